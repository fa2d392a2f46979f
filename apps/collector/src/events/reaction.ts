import type { EventType } from "@lanthorn/contract";
import type { Transaction } from "kysely";
import type { Schema } from "../db/schema.ts";
import type { AppendedEvent, ReactionContext, Reactions } from "./log.ts";

/** What a reaction decides of events for those that react after it. */
interface Outcome {
  /** Ids of events that they do not see. */
  readonly settled: ReadonlySet<string>;
  /** Ids of events for which nobody is called. */
  readonly quiet: ReadonlySet<string>;
}

/** What a service does when events of these types were appended, in the transaction that appends them. */
export interface Reaction<T extends EventType> {
  /** The types that it knows: those that the table gives it, no more and no fewer. */
  readonly types: readonly T[];
  /** Is called once for all events of a batch, in the order of the log; never with none. */
  readonly react: (trx: Transaction<Schema>, context: ReactionContext, events: readonly AppendedEvent<T>[]) => Promise<void | Outcome>;
}

/** Any reaction, when its types do not matter. */
interface AnyReaction {
  readonly types: readonly EventType[];
  readonly react: (trx: Transaction<Schema>, context: ReactionContext, events: readonly never[]) => Promise<void | Outcome>;
}

/**
 * Makes of a table what the event log runs.
 * @param table Event type → the names of those that react to it.
 * @param order All names, in the order in which they run.
 * @param reactions By their names. Of one that is left out, its part of the table is: tests, and benches of a part.
 */
export function createReactions<Name extends string>(
  table: { readonly [T in EventType]: { readonly reactions: readonly Name[] } }, order: readonly Name[],
  reactions: { readonly [N in Name]?: AnyReaction },
): Reactions {
  const rows = Object.entries(table) as readonly [EventType, { readonly reactions: readonly Name[] }][];
  const steps = order.flatMap((name) => {
    const reaction = reactions[name];
    const types = new Set(rows.filter(([, row]) => row.reactions.includes(name)).map(([type]) => type));
    return reaction ? [{ types, react: reaction.react as Reaction<EventType>["react"] }] : [];
  });
  const concerned = new Set(steps.flatMap(({ types }) => [...types]));
  return {
    concerns: (type) => concerned.has(type),
    async run(trx, context, events) {
      let left = events;
      for (const { types, react } of steps) {
        const own = left.filter(({ type }) => types.has(type));
        const outcome = own.length === 0 ? undefined : await react(trx, context, own);
        if (outcome) left = left.flatMap((event) => (outcome.settled.has(event.id) ? [] : outcome.quiet.has(event.id) ? [{ ...event, isQuiet: true }] : [event]));
      }
    },
  };
}
