# Matrices of the comparison from Delaunay meshes of random points, fixed seeds. Files: n, nnz (u64), row_ptr u32, col u32, val f64
import numpy as np, sys
from scipy.spatial import Delaunay
from scipy.sparse import csr_matrix, coo_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
def lap(i,j,n,seed):
    rng=np.random.default_rng(seed)
    w=rng.uniform(.5,1.5,len(i))
    a=coo_matrix((np.r_[-w,-w],(np.r_[i,j],np.r_[j,i])),shape=(n,n)).tocsr()
    d=np.asarray(-a.sum(axis=1)).ravel()+1e-3
    return (a+coo_matrix((d,(np.arange(n),np.arange(n))),shape=(n,n))).tocsr()
def save(a,name):
    a=a.tocsr(); a.sort_indices()
    with open(name,'wb') as f:
        np.array([a.shape[0],a.nnz],dtype=np.uint64).tofile(f)
        a.indptr.astype(np.uint32).tofile(f); a.indices.astype(np.uint32).tofile(f); a.data.astype(np.float64).tofile(f)
    print(name,a.shape[0],a.nnz,flush=True)
def order(a,perm): return a[perm][:,perm]
def rcm(a):
    # by row length, then RCM, as couloir orders
    p=reverse_cuthill_mckee(a,symmetric_mode=True)
    l=np.diff(a.indptr)[p]
    p=p[np.argsort(-l,kind='stable')]
    return order(a,p)
for points,name,seed in [(30000,'tet200k',1),(239000,'tet1600k',2)]:
    rng=np.random.default_rng(seed)
    d=Delaunay(rng.random((points,3)))
    n=len(d.simplices)
    nb=d.neighbors
    i=np.repeat(np.arange(n),4); j=nb.ravel(); k=(j>i)
    a=lap(i[k],j[k],n,seed)
    p=np.random.default_rng(seed+10).permutation(n)
    a=order(a,p)
    save(a,name+'-random.csr')
    save(rcm(a),name+'-rcm.csr')
    if name=='tet1600k':
        s=d.simplices
        e=np.concatenate([s[:,[u,v]] for u in range(4) for v in range(u+1,4)]); e.sort(axis=1); e=np.unique(e,axis=0)
        b=lap(e[:,0],e[:,1],points,seed+5)
        save(rcm(b),'p1-rcm.csr')
