import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ASKED, createWatchBench, type OpenPorts, type WatchBench } from "../testing/watch-bench.ts";

const A = { ip: "192.0.2.5", mac: "00:1b:21:00:00:05" };
const B = { ip: "192.0.2.6", mac: "00:1b:21:00:00:06" };
const SSH: OpenPorts = { "tcp/22": { service: "ssh", version: "OpenSSH 9.2p1" } };
const keyed = (key: string): OpenPorts => ({ "tcp/22": { service: "ssh", version: "OpenSSH 9.2p1", banner: `SSH-2.0-x\nhost key: ssh-ed25519 SHA256:${key.repeat(43)}\nkex: x` } });

let bench: WatchBench;
beforeEach(async () => {
  bench = await createWatchBench();
});
afterEach(() => bench.stop());

const titles = async (status?: string) => (await bench.alerts(status)).filter(({ type }) => type !== "baseline_learned").map(({ title }) => title).toSorted();

/** A host with SSH that has been learned. */
async function known(open: OpenPorts = SSH) {
  await bench.found(A);
  await bench.scan(A, open);
  await bench.learned();
}

describe("the first run", () => {
  test("is one summary, and nothing that is there by then is new", async () => {
    await bench.found(A);
    await bench.found(B);
    await bench.scan(A, { ...SSH, "tcp/80": {} });
    await bench.learned();
    await bench.runTwice();
    expect((await bench.published()).map(({ kind, observed, severity }) => [kind, severity, observed]))
      .toEqual([["learned", "info", "2 devices, 2 ports, 1 service"]]);
    expect((await bench.alerts()).map(({ title, severity, guide }) => [title, severity, guide]))
      .toEqual([["The baseline of the site is learned", "info", "apps/collector/README.md#baselines"]]);
    expect(await bench.differences()).toEqual([]);
  });
});

describe("ports", () => {
  test("a new one raises one alert when the next run finds it too, with before and after", async () => {
    await known();
    await bench.scan(A, { ...SSH, "tcp/4444": { service: "http", version: "nginx 1.25" } });
    await bench.run();
    expect([await titles(), (await bench.differences()).map(({ state }) => state)]).toEqual([[], ["pending"]]);
    await bench.runTwice();
    const [alert, ...others] = (await bench.alerts()).filter(({ type }) => type === "baseline_new_port");
    expect(others).toEqual([]);
    expect(alert).toMatchObject({
      title: "New open port tcp/4444 on 192.0.2.5", severity: "medium", device_id: await bench.deviceAt(A.ip), device_ip: A.ip, count: 1,
    });
    expect((await bench.published()).at(-1)).toMatchObject({
      kind: "new_port", outcome: "appeared", fact: "port", key: "tcp/4444", port: 4444, protocol: "tcp", expected: "", observed: "open: http nginx 1.25",
      expected_at: null, ip: A.ip, mac: A.mac,
    });
    await bench.scan(A, { ...SSH, "tcp/4444": { service: "http", version: "nginx 1.25" } });
    await bench.runTwice();
    expect((await bench.published()).length).toBe(2);

    await bench.scan(A, SSH);
    await bench.run();
    expect([await titles(), (await bench.alerts("resolved")).map(({ id }) => id)]).toEqual([[], [alert?.id]]);
  });

  test("found by a wider scan are new to the collector, and not to the device", async () => {
    await known();
    await bench.scan(A, { ...SSH, "tcp/9999": {} }, { tcp: "1-65535", udp: "" });
    await bench.runTwice();
    expect([await titles(), await bench.differences()]).toEqual([[], []]);
    // From then on they are looked at.
    await bench.scan(A, { ...SSH, "tcp/9999": {}, "tcp/9998": {} }, { tcp: "1-65535", udp: "" });
    await bench.runTwice();
    expect(await titles()).toEqual(["New open port tcp/9998 on 192.0.2.5"]);
  });

  test("a closed one raises an alert that resolves when it is open again", async () => {
    await known({ ...SSH, "tcp/80": {} });
    await bench.scan(A, SSH);
    await bench.runTwice();
    expect(await titles()).toEqual(["Port tcp/80 on 192.0.2.5 is closed"]);
    await bench.scan(A, { ...SSH, "tcp/80": {} });
    await bench.run();
    expect([await titles(), await titles("resolved")]).toEqual([[], ["Port tcp/80 on 192.0.2.5 is closed"]]);
    expect((await bench.differences()).map(({ state, open_key }) => [state, open_key])).toEqual([["ended", null]]);
  });

  test("open between two looks alone, or closed between two runs, are no difference", async () => {
    await known();
    await bench.scan(A, {});
    await bench.scan(A, SSH);
    await bench.runTwice();
    await bench.scan(A, {});
    await bench.run();
    await bench.scan(A, SSH);
    await bench.runTwice();
    expect((await bench.published()).map(({ kind }) => kind)).toEqual(["learned"]);
  });

  test("which nobody looked for in a week are listed, without an alert", async () => {
    await known();
    await bench.wait(8 * 86_400_000);
    await bench.runTwice();
    expect((await bench.differences()).map(({ key, kind, outcome, state }) => [kind, key, outcome, state]))
      .toEqual([["port", "tcp/22", "not_checked", "open"]]);
    await bench.scan(A, SSH);
    await bench.runTwice();
    expect((await bench.differences()).map(({ state }) => state)).toEqual(["ended"]);
    expect((await bench.published()).map(({ kind }) => kind)).toEqual(["learned"]);
  });

  test("of a service: another version is milder than another product, and no word on it is no change", async () => {
    await known();
    await bench.scan(A, { "tcp/22": {} });
    await bench.runTwice();
    expect(await titles()).toEqual([]);
    await bench.scan(A, { "tcp/22": { service: "ssh", version: "OpenSSH 9.6p1" } });
    await bench.runTwice();
    await bench.scan(A, { "tcp/22": { service: "ssh", version: "dropbear 2022.83" } });
    await bench.runTwice();
    expect((await bench.published()).filter(({ kind }) => kind !== "learned").map(({ outcome, state, observed, severity }) => [outcome, state, observed, severity]))
      .toEqual([
        ["changed", "seen", "ssh OpenSSH 9.6p1", "low"], ["changed", "ended", "ssh OpenSSH 9.6p1", "low"],
        ["replaced", "seen", "ssh dropbear 2022.83", "medium"],
      ]);
  });
});

test("another SSH host key is severe", async () => {
  await known(keyed("a"));
  await bench.scan(A, keyed("b"));
  await bench.runTwice();
  expect((await bench.alerts()).filter(({ type }) => type !== "baseline_learned").map(({ type, severity, title }) => [type, severity, title]))
    .toEqual([["baseline_changed_host_key", "high", "Another SSH host key on tcp/22 of 192.0.2.5"]]);
});

test("a collector that was away finds what has changed meanwhile, and reports nothing twice", async () => {
  await known();
  bench.reopen();
  await bench.scan(A, { ...SSH, "tcp/4444": {} });
  await bench.run();
  bench.reopen();
  await bench.runTwice();
  bench.reopen();
  await bench.runTwice();
  expect((await bench.published()).map(({ kind }) => kind)).toEqual(["learned", "new_port"]);
  expect(ASKED.tcp).toContain("4444");
});

test("a new device is one alert, and it learns for itself", async () => {
  await known();
  await bench.found(B, "printer");
  await bench.scan(B, { ...SSH, "tcp/80": {} });
  await bench.runTwice();
  expect(await titles()).toEqual([`New device printer ${B.ip} ${B.mac}`]);
  await bench.wait(2 * 86_400_000);
  await bench.runTwice();
  expect(await titles()).toEqual([`New device printer ${B.ip} ${B.mac}`]);
});
