G=target/gpu/gpu; B=$G/sell_gpu; chmod +x $B
python3 $G/tets.py > /tmp/tets.log 2>&1 &
R='matrix_f.cl -cl-nv-maxrregcount=32 -DREGULAR=1\nmatrix_f.cl -cl-nv-maxrregcount=32 -DREGULAR=0\n'
printf "$R"'matrix_f.cl -DREGULAR=1\n' > $G/cl/variants
(NOFIXED=1 G=1 timeout 100 $B nvidia $G/cl /tmp grid100 grid160 grid256) > $OUT/sell 2>&1
timeout 60 python3 $G/peers.py /tmp grid100 grid160 grid256 > $OUT/peers 2>&1
for i in $(seq 100); do [ -e /tmp/tets.done ] && break; sleep 1; done
printf 'matrix_f.cl -cl-nv-maxrregcount=32 -DREGULAR=0\nmatrix_f.cl -DREGULAR=0\n' > $G/cl/variants
(NOFIXED=1 G=1 timeout 100 $B nvidia $G/cl /tmp tet1600k-rcm tet1600k-random tet6400k-rcm) >> $OUT/sell 2>&1
timeout 80 python3 $G/peers.py /tmp tet1600k-rcm tet1600k-random tet6400k-rcm >> $OUT/peers 2>&1
(printf 'matrix_f.cl -cl-nv-maxrregcount=32 -DREGULAR=1\n' > $G/cl/variants; timeout 60 $B nvidia $G/cl /tmp grid100 grid160) >> $OUT/sell 2>&1
date
