#!/usr/bin/env bash
# Issue 5 on a discrete GPU: energy of a known load, bench --energy, objectives, mixed precision.
set -u
B=target/gpu/five; C=$B/couloir; K=$B/energy_check; M=$B/mixed
chmod +x $B/*
export XDG_CACHE_HOME=/tmp/five-cache
T0=$SECONDS
say() { echo "== $((SECONDS - T0)) s: $*"; }
{
nvidia-smi --query-gpu=name,driver_version,power.draw --format=csv,noheader
timeout 60 $C devices
say idle; timeout 40 $K 10
load() { timeout "$2" $C run cases/taylor-green.toml --set "mesh.box.cells=[$1,$1,$1]" --device 1 --split 1 \
    --steps 100000 --quiet --out /tmp/load >/tmp/load.txt 2>&1 & L=$!; }
say "steady load (128^3, the card does all)"
load 128 60; sleep 18; timeout 50 $K 25; kill $L 2>/dev/null; wait $L 2>/dev/null; tail -2 /tmp/load.txt
say "changing load: 2 s on, 1 s off"
( for _ in 1 2 3 4 5 6 7; do timeout 2 $C run cases/cavity.toml --device 1 --split 1 --quiet --out /tmp/load >/dev/null 2>&1; sleep 1; done ) &
L=$!; sleep 1; timeout 40 $K 18; wait $L
say "bench --energy"
timeout 90 $C bench --matrix grid:160 --where device --device 1 --energy --json $OUT/bench_energy.json
say "objectives"
for o in time energy edp; do
    timeout 60 $C run cases/taylor-green.toml --set "mesh.box.cells=[64,64,64]" --device 1 --steps 200 \
        --objective $o --idle-seconds 3 --quiet --out /tmp/o --json $OUT/objective_$o.json 2>&1 | tail -22
    python3 -c "import json;r=json.load(open('$OUT/objective_$o.json'));print('$o', r['wall_per_step_s'], r['energy'], [(k['name'],k['split_ratio']) for k in r['kernels'][:4]])"
    say "$o done"
done
say mixed
for n in 100 160; do
    timeout 60 $M $n --device 1 --threads 8 --repeat 7 --split 1
    timeout 80 $M $n --device 1 --threads 8 --repeat 7
done
timeout 60 $M 160 --uneven --device 1 --threads 8 --repeat 5 --split 1
timeout 100 $M 250 --device 1 --threads 8 --repeat 3 --split 1
timeout 120 $M 250 --device 1 --threads 8 --repeat 3
timeout 60 $M tet:2000000 --order rcm --uneven --device 1 --threads 8 --repeat 5 --split 1
say end
} 2>&1 | tee $OUT/log
