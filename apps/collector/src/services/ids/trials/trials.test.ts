import { gzipSync } from "node:zlib";
import { ApiKeyCreated, IdsTestResult, MAX_IDS_TEST_BYTES } from "@lanthorn/contract";
import { createId, silentLog, systemClock } from "@lanthorn/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { openPcapBench } from "../../pcap/testing/pcap-bench.ts";
import { openIds } from "../open.ts";
import { noCaptures } from "../testing/rules.ts";
import { webCapture } from "../testing/web-capture.ts";
import { runTrial } from "./run-trial.ts";
import { createTrials } from "./trials.ts";

const WEB = webCapture(["GET /gate.php?id=7 HTTP/1.1\r\nHost: evil.example\r\n\r\n"]);
const RULE = 'alert http any any -> any any (msg:"ET MALWARE gate"; http.uri; content:"/gate.php"; sid:1; rev:1;)';

let gateway: TestGateway;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startTestGateway({
    modules: (parts) => [openIds({ data_dir: "/nonexistent" }, {
      ...parts, log: silentLog, events: parts.log, captures: noCaptures, fetchFile: () => Promise.resolve(null), publish: () => Promise.resolve(true), onPublished: async () => {},
    })],
  });
  tenant = await gateway.createTenant("admin");
});
afterAll(() => gateway.stop());

const call = (body: object, token = tenant.token) => gateway.call("POST", "/api/v1/ids/test", token, body);
const tried = async (body: object) => {
  const answer = await call({ capture: WEB.toString("base64"), ...body });
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return IdsTestResult.parse(answer.body);
};

describe("a rule that is sent, on a capture that is sent", () => {
  test("matches, and it is said where", async () => {
    const result = await tried({ rule: RULE });
    expect(result).toMatchObject({
      matched: true, matches: 1, alerts: 1, missed: null, refusal: null, frames: 10, problem: null, gave_up: false, rule: RULE, beside: [],
      shown: [{
        direction: "to-server", source: { ip: "192.0.2.1", port: 40_000 }, destination: { ip: "198.51.100.9", port: 80 }, protocol: 6, application: "http",
        buffers: [{ buffer: "http.uri", offset: 0, length: 9, bytes: Buffer.from("/gate.php").toString("base64") }],
      }],
    });
    expect([result.shown[0]?.at.slice(0, 20), result.shown[0]?.frame]).toEqual(["2023-11-14T22:13:20.", 4]);
    expect(await tried({ rule: RULE, capture: gzipSync(WEB).toString("base64") })).toMatchObject({ matched: true });
  });

  test("does not match, and the part is named, or the keyword that is refused", async () => {
    expect(await tried({ rule: RULE.replace("/gate.php", "/gate.asp") })).toMatchObject({ matched: false, missed: { kind: "content", buffer: "http.uri", text: 'content:"/gate.asp"', matches_without: null } });
    expect(await tried({ rule: RULE.replace("any any ->", "$HOME_NET any ->") })).toMatchObject({ matched: false, missed: { kind: "addresses", matches_without: true } });
    expect(await tried({ rule: "alert tcp any any -> any any (lua:a; sid:1;)" })).toMatchObject({ matched: false, refusal: { keyword: "lua", signature_id: 1 }, parts: [] });
  });

  test("takes a site's networks for HOME_NET", async () => {
    const body = { rule: RULE.replace("any any -> any", "$HOME_NET any -> $EXTERNAL_NET"), site_id: tenant.siteId };
    expect(await tried(body)).toMatchObject({ matched: false, missed: { kind: "addresses" } });
    expect((await gateway.call("PUT", `/api/v1/ids/networks/${tenant.siteId}`, tenant.token, { home_networks: ["192.0.2.0/24"] })).status).toBe(200);
    expect(await tried(body)).toMatchObject({ matched: true });
  });

  test("is refused where the request makes no sense", async () => {
    const capture = WEB.toString("base64");
    for (const body of [{}, { rule: RULE }, { capture }, { rule: RULE, signature_id: 1, capture }, { rule: RULE, capture, pcap_id: createId() }, { rule: RULE, capture: "no base64!" }, { rule: "", capture }, { rule: RULE, capture: "" }]) {
      expect([body, (await call(body)).status]).toEqual([body, 400]);
    }
    expect((await call({ rule: RULE, capture, site_id: createId() })).status).toBe(404);
    expect((await call({ rule: RULE, capture: gzipSync(Buffer.alloc(MAX_IDS_TEST_BYTES + 1)).toString("base64") })).error.details).toMatchObject([{ path: "capture", message: expect.stringContaining("unpacked") as string }]);
    expect((await call({ rule: RULE, capture: gzipSync(WEB).subarray(0, 40).toString("base64") })).status).toBe(400);
    expect(await tried({ rule: RULE, capture: Buffer.from("no capture at all, but words").toString("base64") })).toMatchObject({ frames: 0, problem: "it is no pcap or pcapng file" });
    const viewer = await gateway.createUser(tenant, "operator");
    expect((await call({ rule: RULE, capture }, viewer.token)).status).toBe(403);
  });
});

test("a rule of the active sets runs with those that set its bits, and theirs", async () => {
  const rules = [
    'alert http any any -> any any (msg:"ET MALWARE first"; http.method; content:"GET"; flowbits:set,one; flowbits:noalert; sid:11; rev:1;)',
    'alert http any any -> any any (msg:"ET MALWARE second"; http.uri; content:"/gate"; flowbits:isset,one; flowbits:set,two; flowbits:noalert; sid:12; rev:1;)',
    'alert http any any -> any any (msg:"ET MALWARE third"; http.stat_code; content:"200"; flowbits:isset,two; sid:13; rev:1;)',
    'alert http any any -> any any (msg:"ET MALWARE other"; http.uri; content:"/x"; flowbits:set,three; sid:14; rev:1;)',
    '# alert http any any -> any any (msg:"ET MALWARE off"; http.uri; content:"/"; flowbits:set,two; sid:15; rev:1;)',
    'alert http any any -> any any (msg:"ET MALWARE none"; http.uri; content:"/gate"; flowbits:isset,never; sid:16; rev:1;)',
  ];
  expect((await gateway.call("POST", "/api/v1/ids/rulesets", tenant.token, { name: "ours", rules: rules.join("\n") })).status).toBe(201);
  expect(await tried({ signature_id: 13 })).toMatchObject({ matched: true, beside: ["1:12", "1:11"], rule: rules[2], unset_bits: [] });
  expect(await tried({ signature_id: 16 })).toMatchObject({ matched: false, beside: [], missed: { kind: "bits", matches_without: true }, unset_bits: ["never"] });
  expect((await call({ signature_id: 99, capture: WEB.toString("base64") })).status).toBe(404);
  const other = await gateway.createTenant("admin");
  expect((await call({ signature_id: 13, capture: WEB.toString("base64") }, other.token)).status).toBe(404);
});

describe("a stored capture", () => {
  test("is a download: with its scope and reason, and in the audit log", async () => {
    const bench = await openPcapBench();
    const probe = await bench.probe();
    const id = await bench.stored(probe, WEB);
    const body = { rule: RULE, pcap_id: id, reason: "case 7" };
    const answer = await bench.call("POST", "/ids/test", { body });
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ matched: true, frames: 10, problem: null })]);
    expect((await bench.audited("pcap.download")).map(({ target_id: target, after }) => [target, after?.["reason"]])).toEqual([[id, "case 7"]]);
    expect((await bench.call("POST", "/ids/test", { body: { ...body, pcap_id: createId() } })).status).toBe(404);
    await bench.call("PUT", `/pcap/settings/${bench.stack.siteId}`, { body: { require_reason: true } });
    expect((await bench.call("POST", "/ids/test", { body: { rule: RULE, pcap_id: id } })).body.error.details).toMatchObject([{ path: "reason" }]);
    expect((await bench.audited("pcap.download.refused")).map(({ after }) => after?.["status"])).toEqual([404, 400]);
  });

  test("is refused to a key that may test rules and not download", async () => {
    const made = ApiKeyCreated.parse((await gateway.call("POST", "/api/v1/auth/keys", tenant.token, { name: "tests", scopes: ["sensors:write"] })).body);
    expect((await call({ rule: RULE, capture: WEB.toString("base64") }, made.key)).status).toBe(200);
    const refused = await call({ rule: RULE, pcap_id: createId() }, made.key);
    expect([refused.status, refused.error.details]).toEqual([403, { required: "pcap:download" }]);
  });
});

describe("attacks", () => {
  const task = { rules: Buffer.from(RULE), addresses: {}, capture: WEB, rest: null };

  test("each tenant has one test at a time, and all together two", async () => {
    const trials = createTrials({ clock: systemClock, log: silentLog });
    let letGo: (value: typeof task) => void = () => {};
    const held = () => new Promise<typeof task>((resolve) => (letGo = resolve));
    const first = trials.run("a", held);
    const goOn = letGo;
    await expect(trials.run("a", held)).rejects.toMatchObject({ code: "RATE_LIMITED" });
    const second = trials.run("b", () => Promise.reject(new Error("no capture")));
    await expect(trials.run("c", held)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", isOrdinary: true });
    await expect(second).rejects.toThrow("no capture");
    goOn(task);
    expect(await first).toMatchObject({ matched: true });
    expect(await trials.run("a", () => Promise.resolve(task))).toMatchObject({ matched: true });
    await trials.close();
    await expect(trials.run("a", held)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  });

  test("what takes too long is ended, and so is one at a stop", async () => {
    const trials = createTrials({ clock: systemClock, log: silentLog, maxMs: 1 });
    await expect(trials.run("a", () => Promise.resolve(task))).rejects.toMatchObject({ code: "BAD_REQUEST" });
    const others = createTrials({ clock: systemClock, log: silentLog });
    const running = others.run("a", () => Promise.resolve(task));
    const stopped = expect(running).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await Promise.resolve();
    await Promise.resolve();
    await others.close();
    await stopped;
  });

  test("a capture stops where the time of a test is over", () => {
    let looks = 0;
    expect(runTrial(task, () => (looks += 1) > 6)).toMatchObject({ result: { frames: 6, problem: expect.stringContaining("frame 6") as string } });
    expect(runTrial({ ...task, rest: "the first 7 bytes were read", capture: WEB.subarray(0, WEB.length - 3) }, () => false)).toMatchObject({ result: { problem: "the first 7 bytes were read" } });
  });

  test("a hostile expression on a hostile body keeps the loop free", async () => {
    const body = "a".repeat(1300);
    const capture = webCapture(Array.from({ length: 40 }, () => `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`).flatMap((head) => [head, body]));
    const expressions = Array.from({ length: 20 }, () => String.raw`pcre:"/((a+)+)+\2b$/"; `).join("");
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const { status, body: answer } = await call({ rule: `alert tcp any any -> any any (content:"aaaa"; ${expressions}sid:1;)`, capture: gzipSync(capture).toString("base64") });
    clearInterval(timer);
    // On a slow machine it is ended as a whole.
    expect(status === 400 || (status === 200 && IdsTestResult.parse(answer).gave_up)).toBe(true);
    expect(turns).toBeGreaterThan(0);
  });
});
