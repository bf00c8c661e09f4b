B=${B:-target/release/couloir}
set -x
{
$B devices
for m in grid:100 grid:160 tet:1600000; do
  timeout 100 $B bench all --matrix $m --where all --json $OUT/all-${m%:*}-${m#*:}.json
done
timeout 60 $B bench axpy --rows 64000000 --where device --json $OUT/axpy.json
timeout 60 $B bench dot --rows 64000000 --where device --json $OUT/dot.json
timeout 60 $B bench spmv --matrix grid:256 --where device --json $OUT/spmv-grid-256.json
timeout 60 $B bench spmv --matrix tet:1600000 --order rcm --where split --exhaustive --json $OUT/spmv-tet-rcm.json
} 2>&1 | tee $OUT/log
