/** What goes on for a while is published when it begins, changes, goes on, and is over: once for each cause, however often it is seen. */
import type { ProbeEvent } from "@lanthorn/contract/uplink";
import type { Clock } from "@lanthorn/runtime";
import type { Publisher } from "../queue/publisher.ts";
import type { OngoingStore } from "./ongoing-store.ts";

/** One that goes on. */
export interface Ongoing<Data> {
  readonly key: string;
  data: Data;
  /** Monotonic milliseconds of the last time that it was seen. */
  lastAt: number;
  /** What of it differs from what was published last. */
  news: "none" | "repeated" | "changed";
  /** Monotonic milliseconds of the last publication; null before the first. */
  publishedAt: number | null;
}

/** Those that go on. */
export interface OngoingRegister<Item> {
  get(key: string): Item | undefined;
  /** How many of a group go on. */
  ofGroup(group: string): number;
  /** Publishes a new one. @returns `left-out` where there are too many, `unwritten` where it could not be written down: say it again later. */
  begin(create: () => Item): "begun" | "left-out" | "unwritten";
  readonly size: number;
  /** New ones that there was no room for. */
  readonly leftOut: number;
  close(): void;
}

const TICK_MS = 1000;
/** A change is published at once if the last publication is so long ago. */
const CHANGE_PAUSE_MS = 30_000;
/** One that goes on unchanged is published again, with its count. */
const REPEAT_MS = 600_000;
const QUIET_MS = 1_800_000;
const MAX_OPEN = 2000;
/** New ones at once, and one each second then. */
const MAX_BURST = 200;

/**
 * Goes on with those of an earlier run.
 * @param deps.publisher Of the database that `store` is in.
 * @param deps.groupOf The group of a key.
 * @param deps.toEvent The event that says how it is.
 */
export function createOngoingRegister<Item extends Ongoing<Item["data"]>>(deps: {
  readonly publisher: Publisher;
  readonly store: OngoingStore<Item["data"]>;
  readonly restore: (key: string, data: Item["data"], monotonic: number) => Item;
  readonly groupOf: (key: string) => string;
  readonly toEvent: (data: Item["data"], state: "ended" | "seen") => ProbeEvent;
  readonly clock: Clock;
}): OngoingRegister<Item> {
  const { publisher, store, groupOf, clock } = deps;
  const items = new Map<string, Item>();
  const groups = new Map<string, number>();
  let room = MAX_BURST;
  let leftOut = 0;
  for (const { key, data } of store.load()) add(deps.restore(key, data, clock.monotonic()));

  function add(item: Item): void {
    items.set(item.key, item);
    groups.set(groupOf(item.key), (groups.get(groupOf(item.key)) ?? 0) + 1);
  }

  function remove({ key }: Item): void {
    items.delete(key);
    const left = (groups.get(groupOf(key)) ?? 1) - 1;
    if (left > 0) groups.set(groupOf(key), left);
    else groups.delete(groupOf(key));
  }

  /** @returns Whether it is written down. */
  function publish(item: Item, state: "ended" | "seen"): boolean {
    const event = deps.toEvent(item.data, state);
    if (!publisher.publish([event], () => (state === "ended" ? store.remove(item.key) : store.save(item.key, item.data)))) return false;
    item.news = "none";
    item.publishedAt = clock.monotonic();
    return true;
  }

  const stop = clock.every(TICK_MS, () => {
    const now = clock.monotonic();
    room = Math.min(MAX_BURST, room + TICK_MS / 1000);
    for (const item of items.values()) {
      const { news, publishedAt, lastAt } = item;
      const since = now - (publishedAt ?? 0);
      if ((news === "changed" && since >= CHANGE_PAUSE_MS) || (news === "repeated" && since >= REPEAT_MS)) publish(item, "seen");
      if (now - lastAt >= QUIET_MS && publish(item, "ended")) remove(item);
    }
  });
  return {
    get size() {
      return items.size;
    },
    get leftOut() {
      return leftOut;
    },
    get: (key) => items.get(key),
    ofGroup: (group) => groups.get(group) ?? 0,
    begin(create) {
      if (items.size >= MAX_OPEN || room < 1) {
        leftOut += 1;
        return "left-out";
      }
      const item = create();
      if (!publish(item, "seen")) return "unwritten";
      room -= 1;
      add(item);
      return "begun";
    },
    close: stop,
  };
}
