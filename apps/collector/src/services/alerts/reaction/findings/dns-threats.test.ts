import type { EventData } from "@lanthorn/contract";
import { alertIdOf, createId } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AlertsBench, createAlertsBench } from "../../testing/bench.ts";

const SINCE = "2026-06-01T00:00:00.000Z";

function threat(values: Partial<EventData<"dns_threat">> = {}) {
  const data: EventData<"dns_threat"> = {
    client_ip: "192.0.2.9", client_mac: "02:00:00:00:00:09", query_name: "mzxw6.t.example.net", query_type: "TXT", action: "reported", feed: "", reason: "212 different names of one domain within an hour",
    severity: "high", listed_since: null, mode: "passive", campaign: "example.net", category: "tunnel", sample_names: ["mzxw6.t.example.net"], mitre_techniques: ["T1071.004"], count: 40, since: SINCE, state: "seen", ...values,
  };
  return { type: "dns_threat" as const, data };
}

describe("an alert of a threat in DNS", () => {
  let bench: AlertsBench;
  beforeEach(async () => void (bench = await createAlertsBench()));
  afterEach(() => bench.server.stop());

  test("is one for a client and a campaign, and says what happened and what to do", async () => {
    await bench.append([threat()]);
    await bench.append([threat({ query_name: "other.t.example.net", count: 90 }), threat({ campaign: "example.org" }), threat({ client_ip: "192.0.2.10", client_mac: "" })]);
    const { data } = await bench.list("?sort=first_seen");
    expect(Object.fromEntries(data.map(({ subject, count }) => [subject, count]))).toEqual({
      "02:00:00:00:00:09 tunnel example.net": 90, "02:00:00:00:00:09 tunnel example.org": 40, "192.0.2.10 tunnel example.net": 40,
    });
    expect(data[0]).toMatchObject({ source: "dns", severity: "high", title: "192.0.2.9 sends data through DNS to example.net", mitre_techniques: ["T1071.004"] });
    expect(data[0]?.description).toContain("Find out which program");
  });

  test("ends when its probe says so, and has the id that the probe makes of the incident", async () => {
    const [probeId, incident] = [createId(), createId()];
    const seen = (state: "ended" | "seen") => ({ ...threat({ state, incident_id: incident }), probeId });
    await bench.append([seen("seen")]);
    expect(await bench.single()).toMatchObject({ id: alertIdOf(probeId, incident), status: "open" });
    await bench.append([seen("ended")]);
    expect(await bench.single()).toMatchObject({ status: "resolved" });
  });

  test.each([["malware", "high"], ["phishing", "low"], ["command and control", "critical"]] as const)("of a name that a list of %s has is %s", async (category, severity) => {
    await bench.append([threat({ mode: "resolver", category, campaign: "a list", severity: "medium", feed: "a list", action: "blocked" })]);
    expect(await bench.single()).toMatchObject({ severity, title: "192.0.2.9 looked up mzxw6.t.example.net" });
  });

  test("of a name that another resolver was asked for says what to do", async () => {
    await bench.append([threat({ category: "malware", campaign: "a list", feed: "a list" })]);
    const { title, description } = await bench.single();
    expect([title, description]).toEqual(["192.0.2.9 looked up mzxw6.t.example.net", expect.stringMatching(/Find out which program.*Block the list at the resolver/)]);
  });

  test.each(["constructor", "__proto__", "toString"])("has the probe's severity where a category is called %s", async (category) => {
    await bench.append([threat({ mode: "resolver", category, campaign: "a list", feed: "a list", severity: "medium" })]);
    expect(await bench.single()).toMatchObject({ severity: "medium" });
  });

  test("is raised by an older probe's event, and not by advertising", async () => {
    await bench.append([threat({ mode: "resolver", category: "advertising", action: "blocked" })]);
    expect((await bench.list()).data).toEqual([]);
    const { client_ip, client_mac, query_name, query_type, action, feed, reason, severity, listed_since } = threat().data;
    await bench.append([{ type: "dns_threat", data: { client_ip, client_mac, query_name, query_type, action, feed, reason, severity, listed_since } }]);
    expect(await bench.single()).toMatchObject({ subject: "02:00:00:00:00:09 mzxw6.t.example.net" });
  });
});
