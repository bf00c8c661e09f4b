# The pressure solve in mixed against double precision on a discrete GPU, to 1e-8, interleaved.
# About 2 minutes. Device 0 is PoCL, 1 the H200. Prints iterations, true residual, median and spread.
# Without --uneven the matrix has one value per diagonal (compressed away); with it, one per link.
M=${M:-target/gpu/five/mixed}
chmod +x $M; export XDG_CACHE_HOME=/tmp/five-cache
{
for n in 100 160 250; do
    timeout 60 $M $n --device 1 --threads 8 --repeat 5 --split 1
    timeout 60 $M $n --uneven --device 1 --threads 8 --repeat 5 --split 1
done
timeout 80 $M 160 --device 1 --threads 8 --repeat 5
timeout 60 $M tet:2000000 --order rcm --uneven --device 1 --threads 8 --repeat 5 --split 1
} 2>&1 | tee ${OUT:-.}/mixed.log
