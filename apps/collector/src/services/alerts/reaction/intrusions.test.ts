import { alertIdOf, createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench, ids } from "../testing/bench.ts";

describe("an alert of an intrusion rule", () => {
  const since = "2026-06-01T00:00:00.000Z";
  let bench: AlertsBench;
  beforeEach(async () => void (bench = await createAlertsBench()));
  afterEach(() => bench.server.stop());

  test("is one for a rule and a host of the site, whichever side's packets matched", async () => {
    await bench.append([ids({ subject_ip: "192.0.2.9", count: 3, since })]);
    await bench.append([ids({ subject_ip: "192.0.2.9", source_ip: "198.51.100.7", destination_ip: "192.0.2.9", count: 5, since })]);
    await bench.append([ids({ subject_ip: "192.0.2.10", count: 1, since })]);
    expect((await bench.list("?sort=first_seen")).data.map(({ device_ip: ip, count }) => [ip, count])).toEqual([["192.0.2.9", 5], ["192.0.2.10", 1]]);
  });

  test("ends when its probe says so, and has the id that the probe makes of the incident", async () => {
    const [probeId, incident] = [createId(), createId()];
    const seen = (state: "ended" | "seen") => ({ ...ids({ incident_id: incident, subject_ip: "192.0.2.9", count: 2, since, state }), probeId });
    await bench.append([seen("seen")]);
    expect(await bench.single()).toMatchObject({ id: alertIdOf(probeId, incident), status: "open", count: 2 });
    await bench.append([seen("ended")]);
    expect(await bench.single()).toMatchObject({ status: "resolved" });
  });

  test("tells rules of different generators apart, and says what was asked for", async () => {
    await bench.append([ids({ subject_ip: "192.0.2.9" }), ids({ gid: 3, subject_ip: "192.0.2.9", fields: { hostname: "bad.example" } })]);
    const { data } = await bench.list();
    expect(data.map(({ subject }) => subject).toSorted()).toEqual(["3:7 192.0.2.9", "7 192.0.2.9"]);
    expect(data.find(({ subject }) => subject.startsWith("3:"))?.description).toContain("bad.example");
  });
});
