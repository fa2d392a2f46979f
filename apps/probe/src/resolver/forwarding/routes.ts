/** Which servers a name is asked of: those of the longest zone that it lies in, or the general ones. */
import type { Forwarder } from "./forwarder.ts";

/** Servers for names of certain zones: Active Directory, the site's reverse zones. */
export interface Route {
  /** Lower case, as on the wire, with the root's byte. */
  readonly zone: Uint8Array;
  readonly forwarder: Forwarder;
}

/** @returns What finds the route for a name in lower case as on the wire. */
export function createRoutes(routes: readonly Route[], general: Forwarder): (name: Uint8Array) => { readonly forwarder: Forwarder; readonly isGeneral: boolean } {
  const byZone = new Map(routes.map(({ zone, forwarder }) => [keyOf(zone, 0), { forwarder, isGeneral: false }] as const));
  const otherwise = { forwarder: general, isGeneral: true };
  if (byZone.size === 0) return () => otherwise;
  return (name) => {
    for (let at = 0; at < name.length; at += 1 + (name[at] as number)) {
      const found = byZone.get(keyOf(name, at));
      if (found) return found;
    }
    return otherwise;
  };
}

function keyOf(name: Uint8Array, start: number): string {
  return Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString("latin1", start);
}

/** @returns A zone's name as on the wire. @throws RangeError for a text that is none. */
export function wireName(text: string): Uint8Array {
  const labels = text.toLowerCase().split(".").filter((label, index, all) => label !== "" || index < all.length - 1);
  const bytes = labels.flatMap((label) => {
    if (label.length === 0 || label.length > 63 || !/^[\x21-\x7e]+$/.test(label)) throw new RangeError(`"${text}" is no name of a zone`);
    return [label.length, ...Buffer.from(label, "latin1")];
  });
  if (bytes.length > 254) throw new RangeError(`"${text}" is too long for a name`);
  return Uint8Array.from([...bytes, 0]);
}
