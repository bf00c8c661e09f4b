#!/usr/bin/env bash
# 2 to 8 ranks share one GPU and 16 cores. Run on a machine with one:
#   before: cp target/release/couloir (cargo build --release --features mpi) and this file to
#           the checkout/target/gpu/mpi/
# Needs mpirun (Open MPI 4.1; libmpi.so.40). About 6 minutes.
set -u
OUT=${OUT:-/tmp/mpi-out}
bin=$(realpath "${1:-target/gpu/mpi/couloir}")
export XDG_CACHE_HOME=/tmp/mpi-cache OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export LC_ALL=C
W=/tmp/mpi-w
mkdir -p "$OUT" $W
log=$OUT/log.txt
say() { echo "$@" | tee -a "$log"; }
{
    ldd "$bin" | grep -E 'mpi|not found'
    mpirun --version | head -1
    nproc
    "$bin" --version
    "$bin" devices | head -8
} 2>&1 | tee -a "$log"
cat >$W/tg.toml <<'C'
mesh.box = { cells = [96, 96, 96], max = [6.283185307179586, 6.283185307179586, 6.283185307179586] }
fluid.viscosity = 6.25e-4
time = { steps = 12, max_courant = 0.4 }
initial.field = "taylor-green-3d"
poisson.tolerance = 1e-8
boundary.xmin = { type = "periodic", with = "xmax" }
boundary.xmax = { type = "periodic", with = "xmin" }
boundary.ymin = { type = "periodic", with = "ymax" }
boundary.ymax = { type = "periodic", with = "ymin" }
boundary.zmin = { type = "periodic", with = "zmax" }
boundary.zmax = { type = "periodic", with = "zmin" }
C
cat >$W/lid.toml <<'C'
mesh.box = { cells = [80, 80, 80] }
fluid.viscosity = 1e-2
time = { steps = 12, max_courant = 0.5 }
boundary.ymax = { type = "wall", velocity = [1, 0, 0] }
boundary.xmin = { type = "wall" }
boundary.xmax = { type = "wall" }
boundary.ymin = { type = "wall" }
boundary.zmin = { type = "wall" }
boundary.zmax = { type = "wall" }
C
start=$SECONDS
say "== the same flow on 1, 2, 4, 8 ranks, with the GPU shared and without"
for n in 1 2 4 8; do
    for device in 1 none; do
        for overlap in on off; do
            [ $n = 1 ] && [ $overlap = off ] && continue
            timeout 60 mpirun --oversubscribe -n $n "$bin" run $W/tg.toml --quiet --overlap $overlap \
                --device $device --out "$W/tg" --json "$OUT/tg-$n-$device-$overlap.json" >$W/txt 2>&1 ||
                { say "ranks $n device $device $overlap: failed"; tail -4 $W/txt | tee -a "$log"; }
        done
    done
done
python3 - "$OUT" <<'P' | tee -a "$log"
import json, sys, glob
for f in sorted(glob.glob(sys.argv[1] + '/tg-*.json')):
    r = json.load(open(f)); c = r['cluster'] or {}
    sp = lambda k: '%.3f' % (1e3 * c[k]['mean']) if c else 'n/a'
    print(f.split('/')[-1], r['ranks'], 'threads', r['threads'], r['device']['name'], r['device']['memory'], 'KE %.14e' % r['kinetic_energy'],
          'step %.3f ms' % (1e3 * r['wall_per_step_s']), 'it %.1f' % r['poisson']['iterations_mean'],
          'copied %.3g' % r['bytes_copied_per_step'], 'exchange', sp('exchange_s'), 'reduce', sp('reduce_s'),
          'resident %.0f MB' % (c['resident_bytes']['max'] / 1e6 if c else 0))
P
say "== $((SECONDS - start)) s; scaling on cores, 200K rows a rank, 2 threads each"
timeout 150 "$bin" scale 200000 --ranks 1,2,4,8 --threads 2 --device none --steps 4 \
    --launcher 'mpirun --oversubscribe' --out "$OUT/scale" --json "$OUT/scale.json" --quiet 2>&1 | tee -a "$log"
say "== $((SECONDS - start)) s; OSpMV and NSpMV over a pretended Gigabit Ethernet"
for rows in 200000 600000; do
    timeout 90 "$bin" scale $rows --ranks 2,4 --threads 1 --device none --network gige \
        --launcher 'mpirun --oversubscribe' --out "$W/g" --json "$OUT/gige-$rows.json" --quiet 2>&1 | sed -n 1,4p | tee -a "$log"
done
say "== $((SECONDS - start)) s; predicted and measured steps"
for net in this gige; do
    timeout 80 "$bin" scale $W/lid.toml --ranks 1,2,4,8 --threads 2 --device none --steps 6 --network $net \
        --launcher 'mpirun --oversubscribe' --out "$W/lid" --json "$OUT/lid-$net.json" --quiet >$W/txt 2>&1 || tail -3 $W/txt
done
for n in 2 4 8; do
    timeout 60 mpirun --oversubscribe -n $n "$bin" predict $W/lid.toml --nodes $n,$n --network this,gige \
        --threads 2 --device none --steps 6 --quiet --out "$W/p" --json "$OUT/predict-$n.json" >$W/txt 2>&1 || tail -3 $W/txt
done
timeout 60 "$bin" predict $W/lid.toml --nodes 64 --threads 2 --device none --steps 4 --quiet --out "$OUT/predict" 2>&1 | tee -a "$log"
python3 - "$OUT" <<'P' | tee -a "$log"
import json, sys
o = sys.argv[1]
for k, name in enumerate(('this', 'gige')):
    real = {p['ranks']: p['step'] for p in json.load(open(f'{o}/lid-{name}.json'))['strong']}
    for n in (2, 4, 8):
        try:
            net = json.load(open(f'{o}/predict-{n}.json'))['networks'][k]
        except Exception as e:
            print(n, e); continue
        p = net['points'][-1]; r = real[n]['median_s']
        print(name, n, 'ranks: predicted %.3f ms, measured %.3f ms (%+.1f %%), min %.3f max %.3f; latency %.2f us, %.2f GB/s, hop %.2f us; kernels %.3f exchange %.3f sums %.3f ms, hidden %s'
              % (1e3*p['step_s'], 1e3*r, 100*(p['step_s']/r-1), 1e3*real[n]['min_s'], 1e3*real[n]['max_s'], 1e6*net['latency_s'], net['bandwidth_bytes_s']/1e9, 1e6*net['hop_s'], 1e3*p['kernels_s'], 1e3*p['exchange_s'], 1e3*p['sums_s'], p['hidden_share']))
P
say "== $((SECONDS - start)) s in all"
rm -rf $W "$OUT"/tg-*.json
