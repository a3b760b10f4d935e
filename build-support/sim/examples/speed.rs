use gpuk_sim::*;
use std::sync::Arc;
use std::time::Instant;
fn main() {
    let threads: usize = std::env::args().nth(1).map_or(1, |a| a.parse().unwrap());
    let ptx = std::fs::read_to_string("build-support/sim/tests/ptx/basic.ptx").unwrap();
    let device = Arc::new(Device::new(Options {
        threads,
        ..Options::default()
    }));
    let module = device.load(&ptx).unwrap();
    let m = device.memory();
    for _ in 0..3 {
        let n = 1u32 << 20;
        let x = m.alloc(4 * n as u64, MemoryKind::Device).unwrap();
        let y = m.alloc(4 * n as u64, MemoryKind::Device).unwrap();
        let mut p = 2.0f32.to_le_bytes().to_vec();
        p.extend([0; 4]);
        p.extend(x.to_le_bytes());
        p.extend(y.to_le_bytes());
        p.extend(n.to_le_bytes());
        let t = Instant::now();
        let r = device
            .launch(
                &module.function("saxpy").unwrap(),
                &Launch::new([n / 256, 1, 1], [256, 1, 1], p),
            )
            .unwrap();
        let s = t.elapsed().as_secs_f64();
        println!(
            "saxpy 1M: {:.1} ms, {:.0} M/s",
            s * 1e3,
            r.instructions as f64 / s / 1e6
        );
        let n = 256u32;
        let [a, b, c] = [0; 3].map(|_| m.alloc(4 * (n * n) as u64, MemoryKind::Device).unwrap());
        let mut p = vec![];
        for q in [a, b, c] {
            p.extend(q.to_le_bytes());
        }
        p.extend(n.to_le_bytes());
        let t = Instant::now();
        let r = device
            .launch(
                &module.function("matmul").unwrap(),
                &Launch::new([n / 16, n / 16, 1], [16, 16, 1], p),
            )
            .unwrap();
        let s = t.elapsed().as_secs_f64();
        println!(
            "matmul 256: {:.1} ms, {} M instr, {:.0} M/s",
            s * 1e3,
            r.instructions / 1000000,
            r.instructions as f64 / s / 1e6
        );
    }
}
