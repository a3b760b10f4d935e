//! rust-analyzer, driven over its standard streams (Language Server Protocol 3.17).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use gpuk_tests::Project;
use serde_json::{Value, json};

/// From one message to the next: a build script's dependencies may have to be compiled first.
const PATIENCE: Duration = Duration::from_secs(400);

/// A running server that has a project open.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    root: String,
    /// The last diagnostics of each file.
    found: BTreeMap<String, Value>,
}

impl Server {
    /// Starts it in the project, `src/lib.rs` open.
    pub(crate) fn start(project: &Project, options: Value) -> Self {
        let version = project.command_of("rust-analyzer", &["--version"]).output();
        assert!(
            version.is_ok_and(|output| output.status.success()),
            "rust-analyzer is not installed: `rustup component add rust-analyzer`"
        );
        let mut command = project.command_of("rust-analyzer", &[]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut options = options;
        // What costs time and is not asked for here.
        options["cargo"] = json!({"buildScripts": {"enable": false}});
        options["procMacro"] = json!({"enable": false});
        options["cachePriming"] = json!({"enable": false});
        let root = format!("file://{}", project.root().display());
        let mut server = Self {
            child,
            input,
            messages,
            root,
            found: BTreeMap::new(),
        };
        server.send(json!({
            "id": 1,
            "method": "initialize",
            "params": {
                "processId": std::process::id(),
                "rootUri": server.root,
                "capabilities": {"textDocument": {"publishDiagnostics": {"relatedInformation": true}}},
                "initializationOptions": options,
            },
        }));
        while server.receive()["id"] != 1 {}
        server.send(json!({"method": "initialized", "params": {}}));
        server.open("src/lib.rs", "rust");
        server
    }

    /// Opens a file as an editor does.
    pub(crate) fn open(&mut self, file: &str, language: &str) {
        let uri = self.uri(file);
        let text = std::fs::read_to_string(uri.trim_start_matches("file://")).unwrap();
        let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.send(json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}));
    }

    /// Saves a file, which starts the check command.
    pub(crate) fn save(&mut self, file: &str) {
        let uri = self.uri(file);
        self.send(
            json!({"method": "textDocument/didSave", "params": {"textDocument": {"uri": uri}}}),
        );
    }

    /// The diagnostics of a file, once they are as expected.
    pub(crate) fn wait(&mut self, file: &str, expected: impl Fn(&Value) -> bool) -> Value {
        let uri = self.uri(file);
        loop {
            if let Some(found) = self.found.get(&uri).filter(|found| expected(found)) {
                return found.clone();
            }
            self.receive();
        }
    }

    fn uri(&self, file: &str) -> String {
        format!("{}/{file}", self.root)
    }

    /// The next message; what the server asks for is granted.
    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE);
        let message = message.unwrap_or_else(|error| panic!("{error}: {:#?}", self.found));
        if message["method"] == "textDocument/publishDiagnostics" {
            let uri = message["params"]["uri"].as_str().unwrap().to_owned();
            self.found
                .insert(uri, message["params"]["diagnostics"].clone());
        } else if message["method"].is_string() && !message["id"].is_null() {
            self.send(json!({"id": message["id"], "result": null}));
        }
        message
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A message behind its header.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim().split_once(": ") {
            Some(("Content-Length", number)) => length = number.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; length];
    output.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
