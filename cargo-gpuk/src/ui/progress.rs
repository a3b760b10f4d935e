//! Progress of a build: a bar on a terminal, a line for each unit elsewhere.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use gpuk_build::progress::Progress;
use gpuk_build::run::ToolCommand;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Shell;

/// Shows units as they are compiled.
#[derive(Debug)]
pub(crate) struct Bar<'s> {
    bar: ProgressBar,
    running: Mutex<BTreeSet<String>>,
    shell: &'s Shell,
    drawn: bool,
}

impl<'s> Bar<'s> {
    /// By what the shell can show.
    #[must_use]
    pub(crate) fn new(shell: &'s Shell) -> Self {
        // Drawn once there is something to do.
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = match shell.colours() {
            true => "{prefix:>12.green.bold} [{bar:27}] {pos}/{len}: {wide_msg}",
            false => "{prefix:>12} [{bar:27}] {pos}/{len}: {wide_msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix("Compiling");
        Self {
            bar,
            running: Mutex::default(),
            shell,
            drawn: shell.draws_progress(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<String>)) {
        if let Ok(mut running) = self.running.lock() {
            change(&mut running);
            let names: Vec<_> = running.iter().map(String::as_str).collect();
            self.bar.set_message(names.join(", "));
        }
    }
}

impl Progress for Bar<'_> {
    fn planned(&self, units: usize) {
        self.bar.set_length(units as u64);
        self.bar.set_position(0);
        if self.drawn && units > 0 {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn started(&self, unit: &str) {
        self.change(|running| {
            running.insert(unit.to_owned());
        });
    }

    fn remark(&self, unit: &str, text: &str) {
        if self.shell.is_verbose() {
            let line = format_args!("{unit}: {text}");
            self.bar.suspend(|| self.shell.status("Reading", line));
        }
    }

    fn held(&self, unit: &str, bytes: u64) {
        if self.shell.is_verbose() {
            let mebibytes = bytes.div_ceil(1 << 20);
            let line = format_args!("{unit} for {mebibytes} MiB of memory");
            self.bar.suspend(|| self.shell.status("Waiting", line));
        }
    }

    fn running(&self, command: &ToolCommand) {
        if self.shell.is_verbose() {
            self.bar.suspend(|| self.shell.status("Running", command));
        }
    }

    fn finished(&self, unit: &str, took: Duration, well: bool) {
        self.change(|running| {
            running.remove(unit);
        });
        self.bar.inc(1);
        if !self.drawn {
            let took = took.as_secs_f64();
            let verb = if well { "Compiled" } else { "Failed" };
            self.shell
                .status(verb, format_args!("{unit} in {took:.2}s"));
        }
    }

    fn waiting(&self) {
        let text = "waiting for another build of the same kernels";
        self.bar.suspend(|| self.shell.status("Blocking", text));
    }
}
