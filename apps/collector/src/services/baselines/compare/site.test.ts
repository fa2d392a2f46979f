import { describe, expect, test } from "vitest";
import { emptyWeek, noteHour, type Week } from "../presence/week.ts";
import { baselineOf, type FactText, NOW, outcomes, SOON } from "../testing/comparisons.ts";
import { compareHours, compareMember, type Member } from "./membership.ts";
import { compareNetwork, type NetworkFactNow, type NetworkLook } from "./network.ts";
import { type Mode, NOT_CHECKED_MS } from "./result.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const from = (text: string, ms: number) => new Date(Date.parse(text) + ms).toISOString();
/** The hour of `NOW` in each of the weeks before it. */
const weeks = (...wasThere: readonly boolean[]): Week => wasThere.reduce(
  (week, isThere, index) => noteHour(week, isThere, Date.parse(NOW) - (wasThere.length - index) * 7 * DAY_MS), emptyWeek(),
);

describe("the network of a site", () => {
  const server = (mac: string, rest: Partial<NetworkFactNow> = {}): NetworkFactNow => (
    { kind: "dhcp_server", key: "10.0.0.1", macs: mac === "" ? [] : mac.split(" "), seenAt: NOW, isKnown: false, isRogue: false, ...rest });
  const LOOK: NetworkLook = { kind: "dhcp_server", since: from(NOW, -2 * DAY_MS), lookedAt: NOW };
  const KNOWN: readonly FactText[] = ["dhcp_server 10.0.0.1 = m1"];
  const compare = (facts: readonly NetworkFactNow[], { known = KNOWN, looks = [LOOK], mode = "active", now = SOON }: {
    readonly known?: readonly FactText[]; readonly looks?: readonly NetworkLook[]; readonly mode?: Mode; readonly now?: string;
  } = {}) => outcomes(compareNetwork({ facts, looks }, baselineOf(known, mode), { activeSince: from(NOW, -DAY_MS), now: Date.parse(now) }));

  test.each<readonly [string, ReturnType<typeof compare>, object]>([
    ["is as it was", compare([server("m1")]), { differences: [], learned: ["dhcp_server 10.0.0.1"] }],
    ["has a second server", compare([server("m1"), server("m2", { key: "10.0.0.2" })]), { differences: ["dhcp_server 10.0.0.2 appeared:  -> m2"] }],
    ["has a second one in a VLAN", compare([server("m1"), server("m1", { key: "10.0.0.1 vlan 7" })]),
      { differences: ["dhcp_server 10.0.0.1 vlan 7 appeared:  -> m1"] }],
    ["has one that a person has allowed", compare([server("m1"), server("m2", { key: "10.0.0.2", isKnown: true })]),
      { differences: [], learned: ["dhcp_server 10.0.0.1", "dhcp_server 10.0.0.2"] }],
    ["has another machine as its server", compare([server("m2")]), { differences: ["dhcp_server 10.0.0.1 replaced: m1 -> m2"] }],
    ["has its server and another machine at one address", compare([server("m1 m2")]), { differences: ["dhcp_server 10.0.0.1 changed: m1 -> m1, m2"] }],
    ["has a server whose MAC nobody sees now", compare([server("")]), { differences: [], learned: ["dhcp_server 10.0.0.1"] }],
    ["has a server whose MAC is seen first", compare([server("m1")], { known: ["dhcp_server 10.0.0.1 = "] }), { differences: [] }],
    ["learns", compare([server("m2")], { mode: "learning" }), { differences: [], learned: ["dhcp_server 10.0.0.1"] }],
    ["learns no server that an alert is about", compare([server("m2", { key: "10.0.0.2", isRogue: true })], { mode: "learning" }),
      { differences: [], learned: [] }],
    ["learns no machine that an alert is about", compare([server("m2", { isRogue: true })], { mode: "learning" }),
      { differences: ["dhcp_server 10.0.0.1 replaced: m1 -> m2"], learned: [] }],
    ["has a kind that nobody listened for before", compare([server("m1")], { known: [], looks: [{ ...LOOK, since: NOW }] }),
      { differences: [], learned: ["dhcp_server 10.0.0.1"] }],
    ["has the same, frozen", compare([server("m1")], { known: [], looks: [{ ...LOOK, since: NOW }], mode: "frozen" }),
      { differences: ["dhcp_server 10.0.0.1 appeared:  -> m1"] }],
    ["has a server that was silent for less than a day", compare([server("m1", { seenAt: from(NOW, -DAY_MS) })]), { differences: [] }],
    ["has lost its server", compare([server("m1", { seenAt: from(NOW, -DAY_MS - 1) })]), { differences: ["dhcp_server 10.0.0.1 gone: m1 -> "] }],
    ["has a server that a probe cannot hear that began to listen just now", compare([server("m1", { seenAt: from(NOW, -DAY_MS - 1) })],
      { looks: [LOOK, { ...LOOK, since: NOW }] }), { differences: [] }],
    ["has nobody who listens", compare([], { looks: [] }), { differences: [], undecided: ["dhcp_server 10.0.0.1"] }],
    ["has had nobody who listens for a week", compare([], { looks: [], now: from(NOW, NOT_CHECKED_MS) }),
      { differences: ["dhcp_server 10.0.0.1 not_checked: m1 -> "] }],
    ["has a known server that hands out another gateway", compare([server("m1", { kind: "gateway", key: "10.0.0.9", isKnown: true })],
      { known: ["gateway 10.0.0.1 = m1"], looks: [{ ...LOOK, kind: "gateway" }] }), { differences: ["gateway 10.0.0.9 appeared:  -> m1"] }],
  ])("%s", (_, found, expected) => expect(found).toMatchObject(expected));
});

describe("a device", () => {
  const member = (rest: Partial<Member> = {}): Member => ({
    id: "d", text: "nas", presence: "online", lastSeenAt: NOW, isUnseen: false, isRogue: false, before: null, deviceType: "server", expected: null,
    week: emptyWeek(), ...rest,
  });
  const offline = (minutes: number, rest: Partial<Member> = {}) =>
    member({ presence: "offline", expected: "always", lastSeenAt: from(NOW, -minutes * 60_000), ...rest });
  const compare = (one: Member, { known = ["device d = nas"], mode = "active" }: { readonly known?: readonly FactText[]; readonly mode?: Mode } = {}) => {
    const found = compareMember(one, baselineOf(known, mode), { now: Date.parse(NOW), missingMs: 15 * 60_000 });
    return { ...outcomes(found), again: found.again };
  };

  test.each<readonly [string, ReturnType<typeof compare>, object]>([
    ["is there", compare(member()), { differences: [], learned: ["device d"] }],
    ["is new", compare(member(), { known: [] }), { differences: ["device d appeared:  -> nas"] }],
    ["is new and learned while its site learns", compare(member(), { known: [], mode: "learning" }), { differences: [], learned: ["device d"] }],
    ["is new and not learned while an alert is about it", compare(member({ isRogue: true }), { known: [], mode: "learning" }),
      { differences: [], learned: [] }],
    ["has the address of one that is gone", compare(member({ before: "old nas" }), { known: [] }), { differences: ["device d replaced: old nas -> nas"] }],
    ["was added by a person and not yet seen", compare(member({ isUnseen: true }), { known: [] }), { differences: [], learned: [] }],
    ["is away for less than the time of the site", compare(offline(14)), { differences: [], undecided: ["device d"], again: Date.parse(NOW) + 60_000 }],
    ["is missing", compare(offline(15)), { differences: ["device d gone: nas -> "] }],
    ["is missing at a frozen site", compare(offline(15), { mode: "frozen" }), { differences: ["device d gone: nas -> "] }],
    ["is not missed while its site learns", compare(offline(15), { mode: "learning" }), { differences: [], forgotten: [] }],
    ["is never missed", compare(offline(999, { expected: "never" })), { differences: [], undecided: [] }],
    ["is not expected: what was said of it stays", compare(offline(999, { expected: null })), { differences: [], undecided: ["device d"] }],
    ["is expected at this hour by two weeks", compare(offline(15, { expected: "usual", week: weeks(true, true) })), { differences: ["device d gone: nas -> "] }],
    ["is not expected by one week", compare(offline(15, { expected: "usual", week: weeks(true) })), { differences: [] }],
    ["is not expected by one week of three", compare(offline(15, { expected: "usual", week: weeks(true, false, false) })), { differences: [] }],
    ["is not looked for: its probe is away", compare(offline(999, { presence: "unknown" })), { differences: [], undecided: ["device d"] }],
  ])("%s", (_, found, expected) => expect(found).toMatchObject(expected));

  test("that always was there is expected: a server after a day, a phone after a week", () => {
    const hours = (count: number) => Array.from({ length: count }).reduce<Week>(
      (week, _, index) => noteHour(week, true, Date.parse(NOW) - (count - index) * HOUR_MS), emptyWeek());
    const isMissed = (deviceType: string, count: number) =>
      compare(offline(15, { expected: null, deviceType, week: hours(count) })).differences.length === 1;
    expect([isMissed("server", 23), isMissed("server", 24), isMissed("phone", 24), isMissed("phone", 168)]).toEqual([false, true, false, true]);
  });

  const atHour = (week: Week, mode: Mode = "active", known: readonly FactText[] = ["presence week = Mon 08-18"], presence = "online") =>
    outcomes(compareHours({ week, presence, lastSeenAt: NOW }, baselineOf(known, mode), Date.parse(NOW)));
  test.each<readonly [string, ReturnType<typeof atHour>, object]>([
    ["at an hour at which it never was in three weeks", atHour(weeks(false, false, false)),
      { differences: ["presence week changed: Mon 08-18 -> 00:00 UTC on Thursday"] }],
    ["the same, frozen", atHour(weeks(false, false, false), "frozen"), { differences: ["presence week changed: Mon 08-18 -> 00:00 UTC on Thursday"] }],
    ["the same, while it learns", atHour(weeks(false, false, false), "learning"), { differences: [] }],
    ["at an hour that was looked at twice", atHour(weeks(false, false)), { differences: [] }],
    ["at an hour at which it was once", atHour(weeks(false, true, false)), { differences: [] }],
    ["away at such an hour", atHour(weeks(false, false, false), "active", [], "offline"), { differences: [] }],
    ["at its usual hour", atHour(weeks(true, true), "active", []), { differences: [], learned: ["presence week"] }],
  ])("is there %s", (_, found, expected) => expect(found).toMatchObject(expected));
});
