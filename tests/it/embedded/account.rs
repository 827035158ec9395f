//! Who runs the server: a plain user itself, root through another user.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
};

use flow_tests::support::eventually;

use super::user::{Place, User, refusal, server_pid};

/// The user every machine has, for trying what a plain user meets.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[tokio::test]
async fn the_server_never_runs_as_root() {
    let place = Place::new();
    let user = User::start(&mut place.user());
    let server = server_pid(&place.cluster()).unwrap();
    let owner = fs::metadata(place.cluster()).unwrap();
    assert_ne!(owner.uid(), 0);
    assert_eq!(owner.mode() & 0o777, 0o700);
    if Path::new("/proc/self").exists() {
        assert_eq!(fs::metadata(format!("/proc/{server}")).unwrap().uid(), owner.uid());
    }
    user.leave();
}

#[test]
fn root_is_told_when_the_servers_user_cannot_enter_the_folder() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let closed = place.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let text = refusal(place.user().env("FLOW_PG_DATA", closed.join("cluster")));
    assert!(text.contains("closed` cannot be entered by user `"), "{text}");
    assert!(text.contains("because you are root; choose a folder elsewhere with FLOW_PG_DATA"), "{text}");
}

/// Root tries what a plain user does; a plain user does it in every other test of this module.
#[tokio::test]
async fn a_plain_user_runs_the_server_itself() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // The build folder may be closed to others.
    let program = place.path().join("embedded_user");
    fs::copy(env!("CARGO_BIN_EXE_embedded_user"), &program).unwrap();
    let folder = place.path().join("nobody");
    fs::create_dir(&folder).unwrap();
    chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();

    let as_nobody = || {
        let mut command = std::process::Command::new(&program);
        command.arg("kept").env("FLOW_PG_DATA", folder.join("cluster")).env_remove("FLOW_DATABASE_URL");
        command.current_dir(&folder).uid(NOBODY).gid(NOBODY);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        command
    };
    let first = User::start(&mut as_nobody());
    let second = User::start(&mut as_nobody());
    assert_eq!(first.port(), second.port());
    assert_eq!(fs::metadata(folder.join("cluster")).unwrap().uid(), NOBODY);
    first.kill();
    assert_eq!(second.ask("select 1::int8").await, 1);
    second.kill();
    eventually("the server ends", async || server_pid(&folder.join("cluster")).is_none()).await;
}
