G=target/gpu/gpu; B=$G/sell_gpu; C=$G/couloir; chmod +x $G/*
python3 $G/tets.py > /tmp/tets.log 2>&1 &
{
timeout 60 $C devices
timeout 30 $C bench dot --matrix grid:400 --where device --device 1
timeout 30 $C bench axpy --matrix grid:400 --where device --device 1
for n in 100 160 256; do timeout 40 $C bench spmv --matrix grid:$n --where device --device 1; done
for n in 100 160 250; do timeout 40 $C bench pcg --matrix grid:$n --where device --device 1; done
timeout 60 $C run cases/taylor-green.toml --set 'mesh.box.cells=[100,100,100]' --device 1 --split 1 --steps 40 --quiet --out /tmp/tg
} > $OUT/log 2>&1
R=-cl-nv-maxrregcount=32
printf "matrix_g.cl $R -DREGULAR=1\nmatrix_g.cl $R -DREGULAR=0\n" > $G/cl/variants
(timeout 100 $B nvidia $G/cl /tmp grid100 grid160 grid256) > $OUT/sell 2>&1
for i in $(seq 30); do [ -e /tmp/tets.done ] && break; sleep 1; done
printf "matrix_g.cl $R -DREGULAR=0\n" > $G/cl/variants
(NOFIXED=1 timeout 100 $B nvidia $G/cl /tmp tet1600k-rcm tet1600k-random tet6400k-rcm) >> $OUT/sell 2>&1
date
