import re,sys
m=None;T={};ms=[]
for l in open(sys.argv[1]):
    if re.match(r'^(grid|tet|uneven)',l):
        m=l.split(':')[0]; ms.append(m); continue
    g=re.match(r'  matrix_(\S+)\.cl\s+g(\d+) (.*?)\s+([\d.]+) us\s+eff\s+(\d+) GB/s \((\d+)\.\.(\d+)\).* (ok|WRONG)',l)
    if g:
        o=re.sub(r'-D\w+=','',g[3]).replace(' ','').replace('-cl-nv-maxrregcount=','R')
        T.setdefault((g[1],o,int(g[2])),{})[m]=(float(g[4]),int(g[5]),g[8])
print(ms)
for k in T: print(k[0],k[1].ljust(14),k[2],[T[k].get(x,(0,0,''))[1] for x in ms], [v[2] for v in T[k].values() if v[2]!='ok'])
