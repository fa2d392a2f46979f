import { describe, expect, test } from "vitest";
import type { Found } from "../compare/result.ts";
import type { DifferenceRow } from "../store/differences.ts";
import { NOW, SOON } from "../testing/comparisons.ts";
import { type Judgement, moveDifferences, type WindowNow } from "./transition.ts";

const OWNER = { tenantId: "t", siteId: "s", baselineId: "b", deviceId: "d" };
const PORT: Found = { kind: "port", key: "tcp/80", outcome: "appeared", expected: "", observed: "open", expectedAt: null, observedAt: NOW };
const GATEWAY: Found = { ...PORT, kind: "gateway", key: "10.0.0.9", observed: "m9" };
const UNCHECKED: Found = { ...PORT, outcome: "not_checked", expected: "open", observed: "", observedAt: null };
const judge = (change: Partial<Judgement> = {}): Judgement => ({
  at: SOON, severityOf: () => "medium", acceptanceOf: () => null, window: null, isRogue: () => false, room: 100, ...change,
});
const window = (effect: "hold" | "learn"): WindowNow => ({ effect, author: "ann", reason: "update" });
/** A difference as it was left by the comparison before. */
function stored(found: Found, state: string, change: Partial<DifferenceRow> = {}): DifferenceRow {
  const [row] = moveDifferences(OWNER, { differences: [found], undecided: new Set() }, [], judge({ at: NOW })).added;
  if (!row) throw new Error("none");
  return { ...row, state, ...change };
}
const move = (found: readonly Found[], standing: readonly DifferenceRow[], judgement = judge(), undecided: readonly string[] = []) => {
  const to = moveDifferences(OWNER, { differences: found, undecided: new Set(undecided) }, standing, judgement);
  const shown = (rows: readonly DifferenceRow[]) => rows.map(({ key, outcome, state }) => `${key} ${outcome} ${state}`);
  return {
    added: shown(to.added), changed: shown(to.changed), published: shown(to.published), taken: to.taken.map(({ key, value, source }) => `${key} ${value} ${source}`),
    dropped: to.dropped.map(({ key }) => key),
  };
};
const NOTHING = { added: [], changed: [], published: [], taken: [], dropped: [] };

describe("a difference", () => {
  const pending = stored(PORT, "pending");
  const open = stored(PORT, "open");
  const held = stored(PORT, "held");
  const accepted = stored(PORT, "accepted", { acceptance_id: "a" });
  const accept = judge({ acceptanceOf: () => "a" });
  test.each<readonly [string, ReturnType<typeof move>, Partial<ReturnType<typeof move>>]>([
    ["is not reported when it is found first", move([PORT], []), { added: ["tcp/80 appeared pending"] }],
    ["is reported when it is found again", move([PORT], [pending]), { changed: ["tcp/80 appeared open"], published: ["tcp/80 appeared open"] }],
    ["is reported once", move([PORT], [open]), {}],
    ["that was found once only is gone without a word", move([], [pending]), { changed: ["tcp/80 appeared ended"] }],
    ["that was reported ends", move([], [open]), { changed: ["tcp/80 appeared ended"], published: ["tcp/80 appeared ended"] }],
    ["of which nothing can be said stays", move([], [open], judge(), ["port tcp/80"]), {}],
    ["of a gateway is reported at once", move([GATEWAY], []), { added: ["10.0.0.9 appeared open"], published: ["10.0.0.9 appeared open"] }],
    ["that nobody looked for is listed at once, and not reported", move([UNCHECKED], []), { added: ["tcp/80 not_checked open"] }],
    ["that nobody looks for any more has no alert", move([UNCHECKED], [stored({ ...PORT, outcome: "gone" }, "open")]),
      { changed: ["tcp/80 not_checked open"], published: ["tcp/80 gone ended"] }],
    ["with another outcome is another alert", move([{ ...PORT, outcome: "gone" }], [open]),
      { changed: ["tcp/80 gone open"], published: ["tcp/80 appeared ended", "tcp/80 gone open"] }],
    ["with another value is reported anew", move([{ ...PORT, observed: "open: http" }], [open]),
      { changed: ["tcp/80 appeared open"], published: ["tcp/80 appeared open"] }],
    ["whose kind is off is none", move([PORT], [], judge({ severityOf: () => null })), {}],
    ["whose kind is off now ends", move([PORT], [open], judge({ severityOf: () => null })), { changed: ["tcp/80 appeared ended"], published: ["tcp/80 appeared ended"] }],
    ["beyond the room is left for later", move([PORT, { ...PORT, key: "tcp/81" }], [], judge({ room: 1 })), { added: ["tcp/80 appeared pending"] }],
    ["that stands needs no room", move([PORT], [pending], judge({ room: 0 })), { changed: ["tcp/80 appeared open"], published: ["tcp/80 appeared open"] }],

    ["is held in a window", move([PORT], [], judge({ window: window("hold") })), { added: ["tcp/80 appeared held"] }],
    ["of a gateway is held in a window too", move([GATEWAY], [], judge({ window: window("hold") })), { added: ["10.0.0.9 appeared held"] }],
    ["that was reported before the window stays reported", move([PORT], [open], judge({ window: window("hold") })), {}],
    ["that was reported, and changes in a window, is not reported anew in it",
      move([{ ...PORT, observed: "open: http" }], [open], judge({ window: window("hold") })), {}],
    ["that was held is reported after it", move([PORT], [held]), { changed: ["tcp/80 appeared open"], published: ["tcp/80 appeared open"] }],
    ["that was held and is no more ends without a word", move([], [held]), { changed: ["tcp/80 appeared ended"] }],
    ["is learned in a window", move([PORT], [], judge({ window: window("learn") })), { taken: ["tcp/80 open window"] }],
    ["that was reported is learned in a window, and ends", move([PORT], [open], judge({ window: window("learn") })),
      { taken: ["tcp/80 open window"], changed: ["tcp/80 appeared ended"], published: ["tcp/80 appeared ended"] }],
    ["that is gone is forgotten in a window", move([{ ...PORT, outcome: "gone" }], [], judge({ window: window("learn") })), { dropped: ["tcp/80"] }],
    ["about which an alert of a guard is open is not learned in a window", move([GATEWAY], [], judge({ window: window("learn"), isRogue: () => true })),
      { added: ["10.0.0.9 appeared held"] }],
    ["that nobody looked for is not learned in a window", move([UNCHECKED], [], judge({ window: window("learn") })), { added: ["tcp/80 not_checked open"] }],

    ["that was accepted before it was found is not reported", move([PORT], [], accept), { added: ["tcp/80 appeared accepted"] }],
    ["that is accepted ends its alert, and stands", move([PORT], [open], accept), { changed: ["tcp/80 appeared accepted"], published: ["tcp/80 appeared accepted"] }],
    ["that is another one than its alert says, and accepted, ends that alert", move([{ ...PORT, outcome: "gone" }], [open], accept),
      { changed: ["tcp/80 gone accepted"], published: ["tcp/80 appeared accepted"] }],
    ["that is accepted stays so without a word", move([PORT], [accepted], accept), {}],
    ["whose acceptance has expired is reported", move([PORT], [accepted]), { changed: ["tcp/80 appeared open"], published: ["tcp/80 appeared open"] }],
    ["that was accepted and is no more ends without a word", move([], [accepted]), { changed: ["tcp/80 appeared ended"] }],
    ["that is accepted in a window is accepted", move([PORT], [held], judge({ acceptanceOf: () => "a", window: window("learn") })),
      { changed: ["tcp/80 appeared accepted"] }],
    ["whose acceptance expires in a window is held", move([PORT], [accepted], judge({ window: window("hold") })), { changed: ["tcp/80 appeared held"] }],
  ])("%s", (_, moved, expected) => expect(moved).toEqual({ ...NOTHING, ...expected }));

  test("that still stands is written down once an hour", () => {
    const at = (ms: number) => judge({ at: new Date(Date.parse(NOW) + ms).toISOString() });
    expect([move([PORT], [open], at(3_599_999)).changed.length, move([PORT], [open], at(3_600_000)).changed.length]).toEqual([0, 1]);
  });
});
