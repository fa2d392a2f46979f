import { toInstant } from "@lanthorn/runtime";

/** Something that is so since some time. */
export interface Fact<T> {
  /** @param now Wall milliseconds. Where the value is the same, it is so since as before. */
  set(value: T, now: number): void;
  read(): { readonly value: T; readonly since: string };
}

/** @param now Wall milliseconds. */
export function createFact<T>(first: T, now: number): Fact<T> {
  let [value, since] = [first, now];
  return {
    set(next, at) {
      if (JSON.stringify(next) === JSON.stringify(value)) return;
      value = next;
      since = at;
    },
    read: () => ({ value, since: toInstant(since) }),
  };
}
