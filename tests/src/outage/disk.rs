//! A small file system of its own for a server's data, which can be filled.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::Command,
};

/// A file system in memory, mounted on the data folder of a server that is stopped; unmounted when dropped.
pub struct SmallDisk {
    data: PathBuf,
}

impl SmallDisk {
    /// Moves the data onto a file system of `megabytes`. `None` where this user may not mount one.
    ///
    /// # Panics
    /// When the data cannot be copied.
    pub fn under(data: &Path, megabytes: u32) -> Option<Self> {
        let aside = data.with_extension("aside");
        copy(data, &aside);
        let options = format!("size={megabytes}m,mode=0700");
        if !run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "flow-small-disk"]).arg(data)) {
            fs::remove_dir_all(aside).unwrap();
            eprintln!("not run: this user may not mount a small file system");
            return None;
        }
        let disk = Self { data: data.to_owned() };
        copy(&aside.join("."), data);
        assert!(run(Command::new("chown").arg(format!("--reference={}", aside.display())).arg(data)));
        fs::remove_dir_all(aside).unwrap();
        Some(disk)
    }

    /// Fills it to the last byte. What the server frees is filled at the next call.
    ///
    /// # Panics
    /// When something else than space is missing.
    pub fn fill(&self) {
        let mut ballast = fs::File::options().create(true).append(true).open(self.ballast()).unwrap();
        for size in [1 << 20, 4 << 10, 1] {
            let piece = vec![0; size];
            let full = loop {
                if let Err(error) = ballast.write_all(&piece) {
                    break error;
                }
            };
            assert_eq!(full.kind(), ErrorKind::StorageFull, "{full}");
        }
    }

    /// Makes room again.
    ///
    /// # Panics
    /// When it was not filled.
    pub fn clear(&self) {
        fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.data.join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: the server may still run when a test has failed.
        run(Command::new("umount").arg("--lazy").arg(&self.data));
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(run(Command::new("cp").arg("--archive").arg(from).arg(to)), "cannot copy {}", from.display());
}

fn run(command: &mut Command) -> bool {
    command.status().unwrap().success()
}
