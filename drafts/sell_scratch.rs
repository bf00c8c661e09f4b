use couloir::kernel::*;
use couloir::node::*;
use couloir::sparse::*;
use couloir::split::*;
use std::ffi::{CString, c_double, c_int, c_void};
use std::time::Instant;
fn load(name: &str) -> Csr {
    if let Some(n) = name.strip_prefix("grid") {
        let n: usize = n.parse().unwrap();
        return Csr::from_rows(n * n * n, n * n * n, |i, row| {
            let at = [i % n, i / n % n, i / (n * n)];
            row.push((i as u32, 6.0 + (i % 7) as f64 * 0.1));
            for (ax, st) in [1, n, n * n].into_iter().enumerate() {
                if at[ax] > 0 {
                    row.push(((i - st) as u32, -1.0 - (i % 5) as f64 * 0.01))
                }
                if at[ax] + 1 < n {
                    row.push(((i + st) as u32, -1.0 - (i % 3) as f64 * 0.01))
                }
            }
        });
    }
    let b = std::fs::read(format!("drafts/{name}.csr")).unwrap();
    let n = u64::from_le_bytes(b[0..8].try_into().unwrap()) as usize;
    let z = u64::from_le_bytes(b[8..16].try_into().unwrap()) as usize;
    let p = 16;
    let u = |at: usize, k: usize| -> Vec<u32> {
        b[at..at + 4 * k]
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect()
    };
    let rp: Vec<usize> = u(p, n + 1).into_iter().map(|x| x as usize).collect();
    let col = u(p + 4 * (n + 1), z);
    let at = p + 4 * (n + 1) + 4 * z;
    let val = b[at..at + 8 * z]
        .chunks(8)
        .map(|c| f64::from_le_bytes(c.try_into().unwrap()))
        .collect();
    Csr {
        rows: n,
        cols: n,
        row_ptr: rp,
        col,
        val,
    }
}
fn huge<T: Copy>(v: &[T]) -> &'static mut [T] {
    let bytes = (std::mem::size_of_val(v)).max(1);
    unsafe {
        let p = libc::mmap(
            std::ptr::null_mut(),
            bytes + (4 << 20),
            3,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        ) as *mut u8;
        let p = p.add(p.align_offset(2 << 20));
        libc::madvise(
            p.cast(),
            bytes.next_multiple_of(2 << 20),
            libc::MADV_HUGEPAGE,
        );
        let s = std::slice::from_raw_parts_mut(p as *mut T, v.len());
        s.copy_from_slice(v);
        s
    }
}
struct Mkl {
    set: unsafe extern "C" fn(c_int),
    mv: unsafe extern "C" fn(
        c_int,
        c_double,
        *mut c_void,
        Descr,
        *const f64,
        c_double,
        *mut f64,
    ) -> c_int,
    create: unsafe extern "C" fn(
        *mut *mut c_void,
        c_int,
        c_int,
        c_int,
        *mut i32,
        *mut i32,
        *mut i32,
        *mut f64,
    ) -> c_int,
    hint: unsafe extern "C" fn(*mut c_void, c_int, Descr, c_int) -> c_int,
    opt: unsafe extern "C" fn(*mut c_void) -> c_int,
    destroy: unsafe extern "C" fn(*mut c_void) -> c_int,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct Descr {
    t: c_int,
    m: c_int,
    d: c_int,
}
fn mkl() -> Mkl {
    unsafe {
        let l = CString::new("libmkl_rt.so.3").unwrap();
        let h = libc::dlopen(l.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        assert!(!h.is_null());
        let s = |n: &str| {
            let c = CString::new(n).unwrap();
            let p = libc::dlsym(h, c.as_ptr());
            assert!(!p.is_null(), "{n}");
            p
        };
        Mkl {
            set: std::mem::transmute(s("MKL_Set_Num_Threads")),
            mv: std::mem::transmute(s("mkl_sparse_d_mv")),
            create: std::mem::transmute(s("mkl_sparse_d_create_csr")),
            hint: std::mem::transmute(s("mkl_sparse_set_mv_hint")),
            opt: std::mem::transmute(s("mkl_sparse_optimize")),
            destroy: std::mem::transmute(s("mkl_sparse_destroy")),
        }
    }
}
fn median(v: &mut Vec<f64>) -> (f64, f64, f64) {
    v.sort_by(f64::total_cmp);
    (v[v.len() / 2], v[0], v[v.len() - 1])
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let threads: usize = args[0].parse().unwrap();
    let secs: f64 = args[1].parse().unwrap();
    let with_mkl = args[2] == "mkl";
    let flushed = args[3] != "warm";
    let device = args[3] == "pocl";
    let descr = Descr { t: 20, m: 0, d: 0 };
    let m = with_mkl.then(mkl);
    if let Some(m) = &m {
        unsafe {
            (m.set)(threads as i32);
            // its threads start before the pool pins this one
            let n = 1 << 16;
            let mut rp: Vec<i32> = (0..=n).collect();
            let mut c: Vec<i32> = (0..n).collect();
            let mut v = vec![1.0; n as usize];
            let mut h = std::ptr::null_mut();
            (m.create)(
                &mut h,
                0,
                n,
                n,
                rp.as_mut_ptr(),
                rp.as_mut_ptr().add(1),
                c.as_mut_ptr(),
                v.as_mut_ptr(),
            );
            let x = vec![1.0; n as usize];
            let mut y = x.clone();
            (m.opt)(h);
            (m.mv)(10, 1.0, h, descr, x.as_ptr(), 0.0, y.as_mut_ptr());
            (m.destroy)(h);
        }
    }
    let engine: Engine<f64> = Engine::open(
        &Config {
            device: if device {
                DeviceChoice::Index(0)
            } else {
                DeviceChoice::None
            },
            threads: Some(threads),
            memory: None,
        },
        Policy::Fixed(if device { 1.0 } else { 0.0 }),
    )
    .unwrap();
    let flush = vec![1u64; (320 << 20) / 8];
    let flush = huge(&flush);
    let pool = &engine.node.pool;
    let sweep = || {
        if flushed || device {
            let s = std::sync::atomic::AtomicU64::new(0);
            pool.run(&|t| {
                let r = pool.part(t, 0..flush.len());
                let k = flush[r].iter().fold(0u64, |a, b| a.wrapping_add(*b));
                s.fetch_add(k, std::sync::atomic::Ordering::Relaxed);
            });
            std::hint::black_box(s);
        }
    };
    // read roof: prefetched sum over 400 MiB with four accumulators
    let big = vec![1.0f64; (400 << 20) / 8];
    let big = huge(&big);
    drop(Vec::<f64>::new());
    let roof = |flush: bool| {
        let mut t = vec![];
        for _ in 0..7 {
            if flush {
                sweep();
            }
            let s = Instant::now();
            pool.run(&|k| {
                let r = pool.part(k, 0..big.len() / 64);
                std::hint::black_box(read(&big[r.start * 64..r.end * 64]));
            });
            t.push(s.elapsed().as_secs_f64());
        }
        median(&mut t).0
    };
    let bw = big.len() as f64 * 8.0 / roof(flushed) / 1e9;
    println!("threads {threads} {} read roof {bw:.1} GB/s", args[3]);
    for name in &args[4..] {
        let a = load(name);
        let s = if name.starts_with("grid") && std::env::var("FIXED").is_ok() {
            Sell::fixed(&engine.node, &a).unwrap()
        } else {
            Sell::<f64>::from_csr(&engine.node, &a).unwrap()
        };
        let x: Vec<f64> = (0..a.cols)
            .map(|i| ((i * 7919) % 1000) as f64 / 1000.0 - 0.5)
            .collect();
        let want = a.apply(&x);
        let xb = engine.node.buffer_from(&x).unwrap();
        let mut y = engine.node.buffer::<f64>(a.rows).unwrap();
        let mut site = engine.site(spmv::kernel(), name, a.rows).unwrap();
        let bytes = s.bytes() + 16.0 * a.rows as f64;
        let mut run = |site: &mut Site<f64>| {
            engine
                .run(
                    site,
                    Operands {
                        out: &mut [&mut y],
                        gather: &[&xb],
                        mats: &[&s],
                        ..Operands::default()
                    },
                )
                .unwrap();
        };
        run(&mut site);
        let mut h = std::ptr::null_mut();
        let mut ym = huge(&vec![0.0f64; a.rows]);
        let xm = huge(&x);
        let (mut rp, mut col, mut val) = (vec![], vec![], vec![]);
        let _ = (&mut rp, &mut col, &mut val, &mut ym);
        if let Some(m) = &m {
            unsafe {
                let rpv: Vec<i32> = a.row_ptr.iter().map(|&x| x as i32).collect();
                let colv: Vec<i32> = a.col.iter().map(|&x| x as i32).collect();
                let (rp2, col2, val2) = (huge(&rpv), huge(&colv), huge(&a.val));
                rp = rpv;
                col = colv;
                val = vec![0.0];
                assert_eq!(
                    (m.create)(
                        &mut h,
                        0,
                        a.rows as i32,
                        a.cols as i32,
                        rp2.as_mut_ptr(),
                        rp2.as_mut_ptr().add(1),
                        col2.as_mut_ptr(),
                        val2.as_mut_ptr()
                    ),
                    0
                );
                (m.hint)(h, 10, descr, 10000);
                (m.opt)(h);
                (m.mv)(10, 1.0, h, descr, xm.as_ptr(), 0.0, ym.as_mut_ptr());
            }
        }
        let (mut tc, mut tm) = (vec![], vec![]);
        let begin = Instant::now();
        while begin.elapsed().as_secs_f64() < secs {
            for _ in 0..5 {
                sweep();
                pool.run(&|_| {});
                let t = Instant::now();
                run(&mut site);
                tc.push(t.elapsed().as_secs_f64());
            }
            if let Some(m) = &m {
                std::thread::sleep(std::time::Duration::from_millis(20));
                for _ in 0..5 {
                    sweep();
                    std::thread::sleep(std::time::Duration::from_millis(8));
                    let t = Instant::now();
                    unsafe {
                        (m.mv)(10, 1.0, h, descr, xm.as_ptr(), 0.0, ym.as_mut_ptr());
                    }
                    tm.push(t.elapsed().as_secs_f64());
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        let got = y.read().unwrap();
        let err = got
            .iter()
            .zip(&want)
            .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(err < 1e-12, "{err}");
        let (c, c0, c1) = median(&mut tc);
        let fl = 2.0 * a.entries() as f64 / 1e9;
        let n = a.rows as f64;
        print!(
            "{name:16} {:6.1} B/row  couloir {:.3} GF ({:.3}..{:.3}, {}) {:5.1} GB/s {:.0}% of roof",
            bytes / n,
            fl / c,
            fl / c1,
            fl / c0,
            tc.len(),
            bytes / c / 1e9,
            100.0 * bytes / c / 1e9 / bw
        );
        if with_mkl {
            let e = ym
                .iter()
                .zip(&want)
                .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(e < 1e-12);
            let (k, k0, k1) = median(&mut tm);
            print!(
                "   MKL {:.3} ({:.3}..{:.3})  ratio {:.3}",
                fl / k,
                fl / k1,
                fl / k0,
                k / c
            );
            if let Some(m) = &m {
                unsafe {
                    (m.destroy)(h);
                }
            }
        }
        println!();
    }
}
#[target_feature(enable = "avx2")]
unsafe fn read2(x: &[f64]) -> f64 {
    use std::arch::x86_64::*;
    unsafe {
        let q = x.len() / 4;
        let mut s = [_mm256_setzero_pd(); 8];
        let p = x.as_ptr();
        let mut i = 0;
        while i + 8 <= q {
            for k in 0..4 {
                let a = p.add(k * q + i);
                _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(128).cast());
                s[2 * k] = _mm256_add_pd(s[2 * k], _mm256_loadu_pd(a));
                s[2 * k + 1] = _mm256_add_pd(s[2 * k + 1], _mm256_loadu_pd(a.add(4)));
            }
            i += 8;
        }
        let mut t = s[0];
        for k in 1..8 {
            t = _mm256_add_pd(t, s[k]);
        }
        let mut o = [0.0; 4];
        _mm256_storeu_pd(o.as_mut_ptr(), t);
        o.iter().sum()
    }
}
#[target_feature(enable = "avx2")]
unsafe fn read1(x: &[f64]) -> f64 {
    use std::arch::x86_64::*;
    unsafe {
        let mut s = [_mm256_setzero_pd(); 8];
        let p = x.as_ptr();
        let mut i = 0;
        while i + 32 <= x.len() {
            for k in 0..4 {
                let a = p.add(i + 8 * k);
                _mm_prefetch::<_MM_HINT_T0>(a.wrapping_add(128).cast());
                s[2 * k] = _mm256_add_pd(s[2 * k], _mm256_loadu_pd(a));
                s[2 * k + 1] = _mm256_add_pd(s[2 * k + 1], _mm256_loadu_pd(a.add(4)));
            }
            i += 32;
        }
        let mut t = s[0];
        for k in 1..8 {
            t = _mm256_add_pd(t, s[k]);
        }
        let mut o = [0.0; 4];
        _mm256_storeu_pd(o.as_mut_ptr(), t);
        o.iter().sum()
    }
}
fn read(x: &[f64]) -> f64 {
    unsafe {
        if std::env::var("STREAMS1").is_ok() {
            read1(x)
        } else {
            read2(x)
        }
    }
}
