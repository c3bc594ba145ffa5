//! `cc-etl service`: lets the scheduler of the operating system run a sync every few minutes.
//!
//! What it runs is a background sync: it waits for a running sync, ends if another one waits already, and logs its end for
//! `cc-etl doctor`.

use super::edit::{read, write};
use super::hook::installed_program;
use super::sync::background;
use super::{database_path, print};
use crate::cli::{Global, ServiceCommand, ServiceInstall};
use crate::database::folder_of;
use crate::discover;
use crate::error::{Error, Result};
use crate::service::{self, Job, MARK, NAME, Scheduler};
use crate::terminal::sanitize;
use etcetera::BaseStrategy;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub fn run(global: &Global, command: &ServiceCommand) -> Result<()> {
    if global.demo {
        let message = "the demo needs no service; leave out --demo";
        return Err(Error::Usage(message.to_string()));
    }
    match command {
        ServiceCommand::Install(arguments) => install(global, arguments),
        ServiceCommand::Remove { dry_run } => remove(global, *dry_run),
        ServiceCommand::Status => status(global),
    }
}

fn install(global: &Global, arguments: &ServiceInstall) -> Result<()> {
    let job = job(global, arguments)?;
    if let Some(why) = job.refusal() {
        return Err(Error::Usage(why));
    }
    let scheduler = match arguments.using {
        Some(scheduler) => scheduler,
        None => scheduler_of_this_system()?,
    };
    let texts = texts(scheduler, &job)?;
    let is_same = match arguments.dry_run && arguments.using.is_some() {
        // The texts of any system are shown on any other.
        true => installed(scheduler).is_ok_and(|installed| installed == texts),
        false => installed(scheduler)? == texts,
    };
    if arguments.dry_run && is_same {
        return print("nothing to change");
    }
    let is_shown = arguments.dry_run || !global.quiet;
    for (name, text) in texts.iter().filter(|_| is_shown && !is_same) {
        print(&sanitize(&format!("{name}\n{}", indented(text))))?;
    }
    if arguments.dry_run {
        return Ok(());
    }
    let is_new = installed(scheduler)?.is_empty();
    if let Err(error) = start(scheduler, &texts) {
        if is_new {
            // What is written is of no use, and this fails for the same reason.
            let _ = stop(scheduler);
        }
        return Err(error);
    }
    for other in Scheduler::ALL {
        if other != scheduler && !installed(other)?.is_empty() {
            stop(other)?;
        }
    }
    match global.quiet {
        true => Ok(()),
        false => print(&format!(
            "{}: it starts a sync every {}; cc-etl service remove ends that",
            scheduler.name(),
            service::period(job.every)
        )),
    }
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_string(),
        line => format!("  {line}\n"),
    });
    lines.collect()
}

fn remove(global: &Global, is_dry_run: bool) -> Result<()> {
    let mut is_any = false;
    for scheduler in Scheduler::ALL {
        let names: Vec<String> = installed(scheduler)?
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        if names.is_empty() {
            continue;
        }
        is_any = true;
        let what = match is_dry_run {
            true => "would be removed",
            false => stop(scheduler).map(|()| "removed")?,
        };
        if is_dry_run || !global.quiet {
            let text = format!("{} {what}: {}", scheduler.name(), names.join(", "));
            print(&sanitize(&text))?;
        }
    }
    match is_any || global.quiet {
        true => Ok(()),
        false => print("not installed"),
    }
}

fn status(global: &Global) -> Result<()> {
    let mut is_any = false;
    for scheduler in Scheduler::ALL {
        let texts = installed(scheduler)?;
        if texts.is_empty() {
            continue;
        }
        is_any = true;
        let mut status = format!("{}: {}", scheduler.name(), state(scheduler));
        for (name, text) in &texts {
            status += &format!("\n  {name}");
            let command = text.lines().find(|line| line.contains(" --in-background "));
            status += &command.map_or(String::new(), |line| format!("\n    {}", line.trim()));
        }
        print(&sanitize(&status))?;
    }
    if !is_any {
        print("not installed")?;
    }
    match background::last_run(&database_path(global)?) {
        Some(run) => print(&sanitize(&run.sentence())),
        None => Ok(()),
    }
}

/// The names of the schedulers that sync this database.
pub fn schedulers_of(database: &Path) -> Vec<&'static str> {
    let path = std::path::absolute(database).unwrap_or_default();
    let path = path.to_string_lossy();
    let syncs_it = |scheduler: &Scheduler| {
        let texts = installed(*scheduler).unwrap_or_default();
        let mut texts = texts.iter();
        texts.any(|(_, text)| service::has_argument(*scheduler, text, &path))
    };
    let schedulers = Scheduler::ALL.into_iter().filter(syncs_it);
    schedulers.map(Scheduler::name).collect()
}

/// The sync to run. A scheduler knows neither the variables of this shell nor its folder, so paths are absolute.
fn job(global: &Global, arguments: &ServiceInstall) -> Result<Job> {
    let text = |path: &Path| {
        let path = std::path::absolute(path).map_err(Error::io(path))?;
        path.to_str().map(str::to_string).ok_or_else(|| {
            let message = format!("the path {} is not UTF-8", path.display());
            Error::Usage(message)
        })
    };
    let mut homes = arguments.source.clone();
    if homes.is_empty() && std::env::var_os("CLAUDE_CONFIG_DIR").is_some() {
        homes = discover::default_homes()?;
    }
    let mut words = vec!["sync", "--in-background", "--quiet", "--db"];
    let mut paths = vec![text(&database_path(global)?)?];
    for home in &homes {
        discover::expect(home)?;
        words.push("--source");
        paths.push(text(home)?);
    }
    let (options, named) = words.split_at(3);
    let options = options.iter().map(ToString::to_string);
    let named = named.iter().zip(paths);
    let named = named.flat_map(|(option, path)| [option.to_string(), path]);
    // The id of this machine is in the data folder.
    let data = std::env::var_os("XDG_DATA_HOME").filter(|_| cfg!(unix));
    let data = data.map(|folder| text(Path::new(&folder))).transpose()?;
    let data = data.map(|folder| ("XDG_DATA_HOME".to_string(), folder));
    Ok(Job {
        program: text(&installed_program()?)?,
        arguments: options.chain(named).collect(),
        environment: data.into_iter().collect(),
        every: arguments.every,
    })
}

fn scheduler_of_this_system() -> Result<Scheduler> {
    if cfg!(windows) {
        return Ok(Scheduler::Windows);
    }
    if cfg!(target_os = "macos") {
        return Ok(Scheduler::Launchd);
    }
    // A user may have no service manager: in a container, or after `su`.
    if call("systemctl", &["--user", "show-environment"]).is_ok() {
        return Ok(Scheduler::Systemd);
    }
    match is_program("crontab") {
        true => Ok(Scheduler::Cron),
        false => Err(Error::Usage(
            "there is neither a systemd for this user nor cron; cc-etl hook install and cc-etl sync --watch need neither"
                .to_string(),
        )),
    }
}

/// A file or its like, and what it says.
type Text = (String, String);

/// The texts of a job.
fn texts(scheduler: Scheduler, job: &Job) -> Result<Vec<Text>> {
    let texts = match scheduler {
        Scheduler::Systemd => {
            let unit = service::systemd_service(job).map_err(Error::Usage)?;
            vec![unit, service::systemd_timer(job)]
        }
        Scheduler::Launchd => vec![service::launch_agent(job)],
        Scheduler::Cron => vec![service::cron_line(job).map_err(Error::Usage)?],
        Scheduler::Windows => vec![service::windows_task(job)],
    };
    Ok(names(scheduler)?.into_iter().zip(texts).collect())
}

/// Where the texts of a scheduler are.
fn names(scheduler: Scheduler) -> Result<Vec<String>> {
    Ok(match scheduler {
        Scheduler::Systemd | Scheduler::Launchd => {
            let files = files(scheduler)?.into_iter();
            files.map(|file| file.display().to_string()).collect()
        }
        Scheduler::Cron => vec!["crontab".to_string()],
        Scheduler::Windows => vec![format!("task {NAME}")],
    })
}

fn files(scheduler: Scheduler) -> Result<Vec<PathBuf>> {
    let folders = etcetera::choose_base_strategy().map_err(|error| {
        let message = format!("cannot find your home directory: {error}");
        Error::Usage(message)
    })?;
    Ok(match scheduler {
        Scheduler::Systemd => {
            let folder = folders.config_dir().join("systemd/user");
            let names = ["service", "timer"].map(|kind| format!("{NAME}.{kind}"));
            names.map(|name| folder.join(name)).to_vec()
        }
        Scheduler::Launchd => {
            let folder = folders.home_dir().join("Library/LaunchAgents");
            vec![folder.join(format!("{NAME}.plist"))]
        }
        Scheduler::Cron | Scheduler::Windows => Vec::new(),
    })
}

/// The texts of ours that a scheduler has.
fn installed(scheduler: Scheduler) -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    match scheduler {
        Scheduler::Systemd | Scheduler::Launchd => {
            for file in files(scheduler)? {
                let Some(text) = read(&file).map_err(Error::io(&file))? else {
                    continue;
                };
                let name = file.display().to_string();
                if !text.contains(MARK) {
                    let message = format!("{name} is not from cc-etl; rename it, and try again");
                    return Err(Error::Usage(message));
                }
                texts.push((name, text));
            }
        }
        Scheduler::Cron => {
            let crontab = crontab()?.unwrap_or_default();
            let line = service::cron_line_in(&crontab).map(str::to_string);
            texts.extend(names(scheduler)?.into_iter().zip(line));
        }
        Scheduler::Windows if is_program("schtasks") => {
            let task = call("schtasks", &["/Query", "/TN", NAME, "/XML"]);
            texts.extend(names(scheduler)?.into_iter().zip(task));
        }
        Scheduler::Windows => {}
    }
    Ok(texts)
}

fn start(scheduler: Scheduler, texts: &[Text]) -> Result<()> {
    match scheduler {
        Scheduler::Systemd => {
            write_files(texts)?;
            let timer = format!("{NAME}.timer");
            run_all(&[
                &["systemctl", "--user", "daemon-reload"],
                &["systemctl", "--user", "enable", &timer],
                &["systemctl", "--user", "restart", &timer],
            ])
        }
        Scheduler::Launchd => {
            write_files(texts)?;
            let (domain, job) = launchd_domain();
            // It may be of an earlier version.
            let _ = call("launchctl", &["bootout", &job]);
            run_all(&[&["launchctl", "bootstrap", &domain, &texts[0].0]])
        }
        Scheduler::Cron => {
            let before = crontab()?;
            let after = service::cron_with(before.as_deref(), &texts[0].1);
            match before.as_deref() == Some(after.as_str()) {
                true => Ok(()),
                false => feed("crontab", &["-"], &after),
            }
        }
        Scheduler::Windows => {
            // The Task Scheduler reads UTF-16.
            let text = texts[0].1.replace('\n', "\r\n");
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
            let folder = std::env::temp_dir();
            let file = tempfile::Builder::new()
                .prefix(NAME)
                .suffix(".xml")
                .tempfile();
            let file = file.map_err(Error::io(&folder))?.into_temp_path();
            fs::write(&file, bytes).map_err(Error::io(&file))?;
            let path = file.display().to_string();
            run_all(&[&["schtasks", "/Create", "/TN", NAME, "/XML", &path, "/F"]])
        }
    }
}

fn stop(scheduler: Scheduler) -> Result<()> {
    match scheduler {
        Scheduler::Systemd => {
            let timer = format!("{NAME}.timer");
            // Without a service manager nothing runs, and the link that it made is to go all the same.
            let _ = call("systemctl", &["--user", "disable", "--now", &timer]);
            let mut files = files(scheduler)?;
            let folder = folder_of(&files[0]).join("timers.target.wants");
            files.push(folder.join(&timer));
            remove_files(&files)?;
            let _ = call("systemctl", &["--user", "daemon-reload"]);
            Ok(())
        }
        Scheduler::Launchd => {
            let (_, job) = launchd_domain();
            let _ = call("launchctl", &["bootout", &job]);
            remove_files(&files(scheduler)?)
        }
        Scheduler::Cron => {
            let before = crontab()?.unwrap_or_default();
            match service::cron_without(&before) {
                Some(after) if after == before => Ok(()),
                Some(after) => feed("crontab", &["-"], &after),
                None => run_all(&[&["crontab", "-r"]]),
            }
        }
        Scheduler::Windows => run_all(&[&["schtasks", "/Delete", "/TN", NAME, "/F"]]),
    }
}

/// What a scheduler says about the job.
fn state(scheduler: Scheduler) -> String {
    match scheduler {
        Scheduler::Systemd => {
            let show = |unit: &str, property: &str| {
                let unit = format!("{NAME}.{unit}");
                call(
                    "systemctl",
                    &["--user", "show", &unit, "--value", "--property", property],
                )
            };
            let states = (show("timer", "ActiveState"), show("service", "Result"));
            match states {
                (Ok(timer), Ok(result)) => {
                    format!("{}; its last result is {}", timer.trim(), result.trim())
                }
                (Err(why), _) | (_, Err(why)) => format!("not running: {why}"),
            }
        }
        Scheduler::Launchd => match call("launchctl", &["print", &launchd_domain().1]) {
            Ok(_) => "loaded".to_string(),
            Err(why) => format!("not loaded: {why}"),
        },
        Scheduler::Cron | Scheduler::Windows => "installed".to_string(),
    }
}

/// The domain of this user in launchd, and the job in it.
fn launchd_domain() -> (String, String) {
    #[cfg(unix)]
    let user = rustix::process::getuid().as_raw();
    #[cfg(not(unix))]
    let user = 0;
    (format!("gui/{user}"), format!("gui/{user}/{NAME}"))
}

fn write_files(texts: &[Text]) -> Result<()> {
    for (name, text) in texts {
        let file = Path::new(name);
        fs::create_dir_all(folder_of(file)).map_err(Error::io(file))?;
        write(file, text).map_err(Error::io(file))?;
    }
    Ok(())
}

fn remove_files(files: &[PathBuf]) -> Result<()> {
    for file in files {
        match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::Io(file.clone(), error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The crontab of this user; none if there is none, or no cron.
fn crontab() -> Result<Option<String>> {
    if !is_program("crontab") {
        return Ok(None);
    }
    match call("crontab", &["-l"]) {
        Ok(text) => Ok(Some(text)),
        // Cron of BSD and cronie, and that of BusyBox.
        Err(why) if why.contains("no crontab") || why.contains("can't open") => Ok(None),
        Err(why) => Err(failed(why)),
    }
}

fn is_program(name: &str) -> bool {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(&name).is_file())
}

fn failed(why: String) -> Error {
    Error::Io(PathBuf::from("the scheduler"), io::Error::other(why))
}

fn run_all(commands: &[&[&str]]) -> Result<()> {
    for words in commands {
        call(words[0], &words[1..]).map_err(failed)?;
    }
    Ok(())
}

/// Runs a program, and returns its output or why it failed.
fn call(program: &str, arguments: &[&str]) -> std::result::Result<String, String> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    finish(program, arguments, command.output())
}

/// The same, for a program that reads a text.
fn feed(program: &str, arguments: &[&str], text: &str) -> Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = command.spawn().and_then(|mut child| {
        let mut input = child.stdin.take().expect("it is a pipe");
        input.write_all(text.as_bytes())?;
        drop(input);
        child.wait_with_output()
    });
    finish(program, arguments, output).map(drop).map_err(failed)
}

fn finish(
    program: &str,
    arguments: &[&str],
    output: io::Result<Output>,
) -> std::result::Result<String, String> {
    let command = || format!("{program} {}", arguments.join(" "));
    let output = output.map_err(|error| format!("{}: {error}", command()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: {}: {}", command(), output.status, said.trim()))
        }
    }
}
