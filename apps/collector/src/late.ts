/** A part that is opened after those that use it. */
export interface Late<T> {
  /** @throws Error where it is not opened yet. */
  readonly get: () => T;
  /** Null where it is not opened yet. */
  readonly peek: () => T | null;
  readonly set: (value: T) => void;
}

/** @param name For the error where it is used too early. */
export function createLate<T>(name: string): Late<T> {
  let held: { readonly value: T } | null = null;
  return {
    get() {
      if (held === null) throw new Error(`${name} is used before it is opened`);
      return held.value;
    },
    peek: () => held?.value ?? null,
    set(value) {
      held = { value };
    },
  };
}
