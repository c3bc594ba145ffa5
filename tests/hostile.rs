//! Each hazard of real files, alone and next to good lines: every good record is imported, every bad fragment is a
//! rejected line with its file, line and bytes, and nothing stops the rest.

mod sandbox;

use sandbox::{Sandbox, text};

const SESSION: &str = "5e550001-0000-4000-8000-000000000001";

fn user(uuid: &str) -> Vec<u8> {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"hello"}},"uuid":"{uuid}","timestamp":"2026-01-10T10:00:00.000Z","sessionId":"{SESSION}","version":"2.1.0","cwd":"/w"}}"#
    )
    .into_bytes()
}

/// A bad line: its bytes, the uuids of the records that must come out of it, and the fragments that must not.
struct Hazard {
    name: &'static str,
    line: Vec<u8>,
    records: Vec<&'static str>,
    rejected: Vec<(&'static str, Vec<u8>)>,
}

fn hazards() -> Vec<Hazard> {
    let hazard = |name,
                  line: Vec<u8>,
                  records: &[&'static str],
                  rejected: &[(&'static str, &[u8])]| Hazard {
        name,
        line,
        records: records.to_vec(),
        rejected: rejected
            .iter()
            .map(|(reason, raw)| (*reason, raw.to_vec()))
            .collect(),
    };
    let torn = br#"{"type":"pr-link","prNu"#;
    let cut = br#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"cut off he"#;
    let nested =
        br#"{"parentUuid":null,"uuid":"x","type":"user","message":{"role":"user","content":"x"}"#;
    let invalid = [
        &br#"{"parentUuid":null,"uuid":"bad","type":"user","cwd":""#[..],
        b"\xff\xfe",
        br#""}"#,
    ]
    .concat();
    let between_keys = b"{\"a\":1\xff}";
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(1200), "]".repeat(1200)).into_bytes();
    let nuls = vec![0; 700];
    vec![
        hazard("a glued line", [user("g1"), user("g2")].concat(), &["g1", "g2"], &[]),
        hazard(
            "a torn record with a whole one behind it",
            [&torn[..], &user("t1")].concat(),
            &["t1"],
            &[("torn_record", torn)],
        ),
        hazard(
            "a torn record with two whole ones behind it",
            [&cut[..], &user("t2"), &user("t3")].concat(),
            &["t2", "t3"],
            &[("torn_record", cut)],
        ),
        hazard("a cut line", cut.to_vec(), &[], &[("torn_record", cut)]),
        hazard("a cut line that ends in a nested object", nested.to_vec(), &[], &[("torn_record", nested)]),
        hazard("NUL bytes before a record", [&nuls[..], &user("n1")].concat(), &["n1"], &[("nul_run", &nuls)]),
        hazard("NUL bytes behind a record", [&user("n2")[..], &nuls].concat(), &["n2"], &[("nul_run", &nuls)]),
        hazard("NUL bytes alone", nuls.clone(), &[], &[("nul_run", &nuls)]),
        hazard(
            "garbage behind a record",
            [&user("b1")[..], b" oops"].concat(),
            &["b1"],
            &[("not_json", b"oops")],
        ),
        hazard("a carriage return", [&user("c1")[..], b"\r"].concat(), &["c1"], &[]),
        hazard(
            "a lone surrogate",
            text_of("s1", r"\ud83d and \udc00"),
            &["s1"],
            &[],
        ),
        hazard("a NUL escape", text_of("s2", r"a\u0000b"), &["s2"], &[]),
        hazard("line separators", text_of("s3", "a\u{2028}b\u{2029}c\u{85}d"), &["s3"], &[]),
        hazard("an escape sequence", text_of("s4", r"\u001b[31mred"), &["s4"], &[]),
        hazard("bytes that are not UTF-8", invalid, &["bad"], &[("invalid_utf8", b"\xff\xfe")]),
        hazard(
            "bytes that are not UTF-8 between keys",
            between_keys.to_vec(),
            &[],
            &[("torn_record", between_keys)],
        ),
        hazard("a list", b"[1,2]".to_vec(), &[], &[("not_an_object", b"[1,2]")]),
        hazard("a number", b"17".to_vec(), &[], &[("not_an_object", b"17")]),
        hazard("a comment", b"// a note".to_vec(), &[], &[("not_json", b"// a note")]),
        hazard("too deep a nesting", deep.clone(), &[], &[("too_deep", &deep)]),
        hazard(
            "duplicate keys",
            [&user("d0")[..user("d0").len() - 1], br#","uuid":"d1"}"#].concat(),
            &["d1"],
            &[],
        ),
        hazard(
            "fields of unexpected types",
            format!(
                r#"{{"parentUuid":null,"uuid":"f1","type":7,"sessionId":["{SESSION}"],"timestamp":{{}},"message":"text","isSidechain":"no","cwd":null,"version":1e999,"toolUseResult":-0.0}}"#
            )
            .into_bytes(),
            &["f1"],
            &[],
        ),
        hazard(
            "absurd usage",
            format!(
                r#"{{"parentUuid":null,"uuid":"f2","type":"assistant","sessionId":"{SESSION}","message":{{"id":"m","model":"x","usage":{{"input_tokens":-5,"output_tokens":"12","cache_read_input_tokens":1e30,"cache_creation_input_tokens":null}},"content":{{"a":1}}}}}}"#
            )
            .into_bytes(),
            &["f2"],
            &[],
        ),
        hazard(
            "odd values in what SQL reads",
            format!(
                r#"{{"parentUuid":null,"uuid":"f3","type":"assistant","sessionId":"{SESSION}","isSidechain":true,"agentId":"a1","forkedFrom":{{"sessionId":7}},"message":{{"id":"m3","model":{{"a":1}},"usage":{{"input_tokens":1,"output_tokens":1,"iterations":[1,"x",{{"type":"advisor_message","model":7,"input_tokens":"many","output_tokens":1.5}}]}},"content":[{{"type":"tool_use","id":"t3","name":"Task","input":[1]}},{{"type":"tool_use","id":"t4","name":"AskUserQuestion","input":"x"}},{{"type":"tool_result","tool_use_id":"t4","content":7}}]}},"toolUseResult":{{"answers":"none","searchCount":"two","codeText":1,"code":"x","status":3,"agentId":4}}}}"#
            )
            .into_bytes(),
            &["f3"],
            &[],
        ),
        hazard(
            "odd state records",
            br#"{"type":"fork-context-ref","agentId":"a1","contextLength":"x"}"#.to_vec(),
            &[],
            &[],
        ),
        hazard(
            "an odd worktree",
            br#"{"type":"worktree-state","worktreeSession":{"worktreePath":{"a":1},"originalCwd":7}}"#.to_vec(),
            &[],
            &[],
        ),
        hazard(
            "an odd cost",
            br#"{"type":"cost-state","totalCostUSD":"much","modelUsage":3}"#.to_vec(),
            &[],
            &[],
        ),
        hazard("an object without a type", br#"{"a":1}"#.to_vec(), &[], &[]),
        hazard("an unknown type", br#"{"type":"from-the-future","x":1}"#.to_vec(), &[], &[]),
        hazard("a long line", text_of("l1", &"x".repeat(3_000_000)), &["l1"], &[]),
        hazard("a blank line", b"  \t ".to_vec(), &[], &[]),
    ]
}

fn text_of(uuid: &str, content: &str) -> Vec<u8> {
    let line = String::from_utf8(user(uuid)).unwrap();
    line.replace("hello", content).into_bytes()
}

/// The fragments of a file, in their order, as `line|reason|bytes`.
fn expected_rejects(hazards: &[&Hazard], first_line: usize) -> Vec<String> {
    let mut expected = Vec::new();
    for (index, hazard) in hazards.iter().enumerate() {
        for (reason, raw) in &hazard.rejected {
            expected.push(format!(
                "{}|{reason}|{}",
                first_line + 2 * index,
                sandbox::text(raw)
            ));
        }
    }
    expected
}

#[test]
fn each_hazard_alone_costs_only_itself() {
    for hazard in hazards() {
        let sandbox = Sandbox::new();
        sandbox.write(
            &format!("projects/-w/{SESSION}.jsonl"),
            [&hazard.line[..], b"\n"].concat(),
        );
        sandbox.sync();
        sandbox.check();
        let uuids = sandbox.query("select uuid from messages order by byte_offset");
        assert_eq!(uuids, hazard.records, "{}", hazard.name);
        let rejected = sandbox
            .query("select line_number, reason, raw from rejected_lines order by byte_offset");
        assert_eq!(rejected, expected_rejects(&[&hazard], 1), "{}", hazard.name);
    }
}

#[test]
fn every_good_record_next_to_hazards_is_imported() {
    let hazards = hazards();
    let sandbox = Sandbox::new();
    let mut content = Vec::new();
    let mut expected = Vec::new();
    for (index, hazard) in hazards.iter().enumerate() {
        let good = format!("good-{index:02}");
        content.extend(user(&good));
        content.push(b'\n');
        content.extend(&hazard.line);
        content.push(b'\n');
        expected.push(good);
        expected.extend(hazard.records.iter().map(ToString::to_string));
    }
    content.extend(br#"{"parentUuid":null,"uuid":"unfinished","#);
    sandbox.write(&format!("projects/-w/{SESSION}.jsonl"), &content);

    let home = sandbox.home();
    let output = sandbox.run(&["sync", "--source", home.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let messages = sandbox::text(&output.stderr);
    assert!(
        messages.contains(&format!("projects/-w/{SESSION}.jsonl:4: ")),
        "{messages}"
    );
    sandbox.check();
    assert_eq!(
        sandbox.query("select uuid from messages order by byte_offset"),
        expected
    );
    let all: Vec<&Hazard> = hazards.iter().collect();
    let mut rejected = expected_rejects(&all, 2);
    rejected.push(format!(
        "{}|incomplete_tail|{{\"parentUuid\":null,\"uuid\":\"unfinished\",",
        2 * hazards.len() + 1
    ));
    assert_eq!(
        sandbox.query("select line_number, reason, raw from rejected_lines order by byte_offset"),
        rejected
    );
    assert_eq!(
        sandbox.query(
            "select type, json_extract(payload_json, '$.x') from events order by byte_offset"
        ),
        [
            "fork-context-ref|NULL",
            "worktree-state|NULL",
            "cost-state|NULL",
            "NULL|NULL",
            "from-the-future|1"
        ]
    );
    assert_eq!(
        sandbox.query(
            "select name, occurrence_count from unknown_kinds where level = 'record' order by name"
        ),
        ["|2", "from-the-future|1"]
    );
    assert_eq!(
        sandbox.query("select input_tokens, output_tokens, cache_read_tokens, cache_write_tokens from api_responses"),
        ["NULL|12|NULL|NULL", "1|1|NULL|NULL", "NULL|NULL|NULL|0"]
    );
    let strict = sandbox.run(&["sync", "--strict", "--source", home.to_str().unwrap()]);
    assert_eq!(strict.status.code(), Some(65));
}

#[test]
fn texts_hold_no_nul_and_no_lone_surrogate() {
    let sandbox = Sandbox::new();
    let lines = [text_of("s1", r"\ud83d \u0000 \ud83d\ude00"), b"\n".to_vec()].concat();
    sandbox.write(&format!("projects/-w/{SESSION}.jsonl"), lines);
    sandbox.sync();
    assert_eq!(
        sandbox.query("select text from content_blocks"),
        ["\u{fffd} \u{fffd} 😀"]
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let sandbox = Sandbox::new();
    let content = [
        &b"\xef\xbb\xbf"[..],
        &user("u1"),
        b"\r\n",
        &user("u2"),
        b"\r\n",
    ]
    .concat();
    sandbox.write(&format!("projects/-w/{SESSION}.jsonl"), content);
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query("select uuid from messages order by uuid"),
        ["u1", "u2"]
    );
    assert_eq!(sandbox.count("select count(*) from rejected_lines"), 0);
}

#[test]
fn a_complete_last_object_without_newline_is_imported_at_once() {
    let sandbox = Sandbox::new();
    let file = format!("projects/-w/{SESSION}.jsonl");
    sandbox.write(&file, user("u1"));
    sandbox.sync();
    assert_eq!(sandbox.count("select count(*) from messages"), 1);
    sandbox.write(&file, [user("u1"), user("u2"), b"\n".to_vec()].concat());
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query("select uuid, line_number from messages order by uuid"),
        ["u1|1", "u2|1"]
    );
}

#[cfg(unix)]
#[test]
fn files_whose_names_look_alike_when_they_are_escaped_are_all_imported() {
    use std::os::unix::ffi::OsStrExt;
    let names: [&[u8]; 4] = [
        b"a\xff.jsonl",
        br"a\xff.jsonl",
        br"a\x5cxff.jsonl",
        br"a\b.jsonl",
    ];
    for is_split in [false, true] {
        let sandbox = Sandbox::new();
        for (number, name) in names.iter().enumerate() {
            let file = sandbox.write("projects/-w/new", user(&format!("u{number}")));
            std::fs::rename(
                &file,
                file.with_file_name(std::ffi::OsStr::from_bytes(name)),
            )
            .unwrap();
            if is_split {
                sandbox.sync();
            }
        }
        sandbox.sync();
        sandbox.check();
        let uuids = sandbox.query("select uuid from messages order by uuid");
        assert_eq!(uuids, ["u0", "u1", "u2", "u3"]);
        let out = sandbox.path("out");
        sandbox.ok(&["restore", "--out", out.to_str().unwrap()]);
        for (number, name) in names.iter().enumerate() {
            let file = out
                .join("projects/-w")
                .join(std::ffi::OsStr::from_bytes(name));
            assert_eq!(std::fs::read(file).unwrap(), user(&format!("u{number}")));
        }
    }
}

#[test]
fn a_time_outside_the_calendar_in_utc_costs_nothing_but_itself() {
    let sandbox = Sandbox::new();
    let line = |uuid: usize, time: &str| {
        let record = text(&user(&format!("u{uuid:04}")));
        record.replace("2026-01-10T10:00:00.000Z", time) + "\n"
    };
    let times = [
        "9999-12-31T23:59:59-14:00",
        "0000-01-01T00:00:00+14:00",
        "2026-01-10T10:00:00Z",
    ];
    let lines: String = (0..1001)
        .map(|number| line(number, times[(number + 1) % 3]))
        .collect();
    sandbox.write(&format!("projects/-w/{SESSION}.jsonl"), lines);
    sandbox.sync_with(&["--strict"]);
    sandbox.check();
    assert_eq!(sandbox.count("select count(*) from messages"), 1001);
    assert_eq!(
        sandbox.count("select count(*) from messages where sent_at is null"),
        667
    );
}
