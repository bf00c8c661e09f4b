import sys; sys.argv=['x']; exec(open('drafts/gen.py').read().split("for points")[0])
rng=np.random.default_rng(2); d=Delaunay(rng.random((239000,3))); s=d.simplices
e=np.concatenate([s[:,[u,v]] for u in range(4) for v in range(u+1,4)]); e.sort(axis=1); e=np.unique(e,axis=0)
b=lap(e[:,0],e[:,1],239000,7)
p=reverse_cuthill_mckee(b,symmetric_mode=True); save(order(b,p),'p1-plainrcm.csr')
for w in (256,1024,4096):
    l=np.diff(b.indptr)[p]; q=p.copy()
    for k in range(0,len(p),w): q[k:k+w]=p[k:k+w][np.argsort(-l[k:k+w],kind='stable')]
    save(order(b,q),f'p1-window{w}.csr')
