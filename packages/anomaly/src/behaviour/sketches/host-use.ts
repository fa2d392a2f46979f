import { hashText } from "../../fnv.ts";

/** With fewer, somebody is first. */
const MIN_DEVICES = 3;

/** Which regions or peers are known to how many devices of the site. */
export interface HostUse {
  readonly use: (what: string, device: string) => void;
  /** Whether three devices or more talk to it: then it is no news that another does. */
  readonly isCommon: (what: string) => boolean;
  readonly clear: () => void;
}

/** Two words of bits for each, of which a device sets one. @param max Of what is kept; what was not used for longest gives way. */
export function createHostUse(max: number): HostUse {
  const users = new Map<string, Uint32Array>();
  return {
    use(what, device) {
      const bits = users.get(what) ?? new Uint32Array(2);
      users.delete(what);
      users.set(what, bits);
      if (users.size > max) users.delete(users.keys().next().value ?? "");
      const bit = hashText(device) % 64;
      bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    },
    isCommon(what) {
      let count = 0;
      for (const word of users.get(what) ?? []) for (let rest = word; rest !== 0; rest = (rest & (rest - 1)) >>> 0) count += 1;
      return count >= MIN_DEVICES;
    },
    clear: () => users.clear(),
  };
}
