/** Parts of rules that are equal are one object in all rules of a load: thousands of rules have the same few flows, metadata and contents. */

import type { FlowCondition, RuleClass, RuleEnd, RuleProtocol, RuleReference } from "../rule.ts";
import type { AddressSet } from "../address-set.ts";
import type { PortSet } from "../port-set.ts";
import { createSharedContents, type SharedContents } from "./shared-contents.ts";
import { flatText } from "../text/flat-text.ts";

/** What Suricata gives to rules that say nothing. */
export const DEFAULT_PRIORITY = 3;

type Pair = readonly [key: string, value: string];

/** What rules of one load share. */
export interface SharedParts extends SharedContents {
  /** @returns The pair, whose texts keep no longer one alive. */
  pair(key: string, value: string): Pair;
  reference(system: string, id: string, url: string | null): RuleReference;
  protocol(protocol: RuleProtocol, applications: readonly string[] | null): RuleProtocol;
  flow(flow: FlowCondition): FlowCondition;
  end(addresses: AddressSet, ports: PortSet): RuleEnd;
  /** A class of which classification.config says nothing. */
  unknownClass(name: string): RuleClass;
}

/** @returns Nothing is shared yet. Its memory grows with the text of the rules and no faster, and goes with the load. */
export function createSharedParts(): SharedParts {
  const pairs = new Map<string, Map<string, Pair>>();
  const references = new Map<string, RuleReference>();
  const protocols = new Map<RuleProtocol["name"], Map<string, RuleProtocol>>();
  const flows = new Map<string, FlowCondition>();
  const ends = new Map<AddressSet, Map<PortSet, RuleEnd>>();
  const classes = new Map<string, RuleClass>();
  return {
    pair(key, value) {
      let values = pairs.get(key);
      if (values === undefined) pairs.set(flatText(key), values = new Map());
      let pair = values.get(value);
      if (pair === undefined) {
        pair = [flatText(key), flatText(value)];
        values.set(pair[1], pair);
      }
      return pair;
    },
    reference(system, id, url) {
      const key = `${system} ${id}`;
      let reference = references.get(key);
      if (reference === undefined) references.set(flatText(key), reference = { system: flatText(system), id: flatText(id), url: url === null ? null : flatText(url) });
      return reference;
    },
    protocol(protocol, applications) {
      if (protocol.applications === applications) return protocol;
      let named = protocols.get(protocol.name);
      if (named === undefined) protocols.set(protocol.name, named = new Map());
      const key = applications?.join(" ") ?? "-";
      let shared = named.get(key);
      if (shared === undefined) named.set(key, shared = { ...protocol, applications });
      return shared;
    },
    flow({ direction, state, stream, fragments }) {
      const key = [direction, state, stream, fragments].join(" ");
      let shared = flows.get(key);
      if (shared === undefined) flows.set(key, shared = { direction, state, stream, fragments });
      return shared;
    },
    end(addresses, ports) {
      let ofAddresses = ends.get(addresses);
      if (ofAddresses === undefined) ends.set(addresses, ofAddresses = new Map());
      let end = ofAddresses.get(ports);
      if (end === undefined) ofAddresses.set(ports, end = { addresses, ports });
      return end;
    },
    unknownClass(name) {
      let shared = classes.get(name);
      if (shared === undefined) {
        const own = flatText(name);
        classes.set(own, shared = { name: own, description: own, priority: DEFAULT_PRIORITY });
      }
      return shared;
    },
    ...createSharedContents(),
  };
}
