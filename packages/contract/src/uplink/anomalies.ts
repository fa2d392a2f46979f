import * as z from "zod";
import { Instant } from "../values.ts";

/** Feedback of a site that has not expired. */
export const MAX_ACCEPTED_ANOMALIES = 256;

/** What people said is normal for a device, or for a group of like devices: the part `anomalies` of a probe's configuration. A kind that the probe does not know matches nothing. */
export const AnomaliesPart = z.object({
  accepted: z.array(z.object({
    kind: z.string().max(64),
    /** The device's name at the probe, or a group's; one of the two. */
    device: z.string().max(64).optional(),
    group: z.string().max(64).optional(),
    /** By packet time; left out for always. */
    until: Instant.optional(),
  })).max(MAX_ACCEPTED_ANOMALIES),
});
export type AnomaliesPart = z.infer<typeof AnomaliesPart>;

/** States of a device whose behavior is watched, in the order of its life. */
export const LIFECYCLES = ["learning", "active", "drifted", "frozen"] as const;
/** One of `LIFECYCLES`. */
export type Lifecycle = (typeof LIFECYCLES)[number];

/** Names by which a probe may know a device: each MAC address and each address that it has. */
export const MAX_BEHAVIOUR_NAMES = 64;
const Names = z.array(z.string().min(1).max(64)).min(1).max(MAX_BEHAVIOUR_NAMES);

/** Devices in one reply to `behaviour_list`: a page, and one more that says whether there is a next. */
export const MAX_BEHAVIOUR_DEVICES = 201;

/** What `COMMANDS` has of what a probe learned of devices. Refused where the probe does not watch behavior. */
export const BEHAVIOUR_COMMANDS = {
  /** What is usual for the first of these that it knows. Replied to with `BehaviourReply`. */
  behaviour_read: z.object({ devices: Names }),
  /** Which devices it knows and in which state, by their names: of these states, or null for all; behind the first so many, or behind the one of a name. Replied to with `BehaviourListReply`. */
  behaviour_list: z.object({
    lifecycles: z.array(z.enum(LIFECYCLES)).min(1).max(LIFECYCLES.length).nullable(), behind: z.union([z.int().min(0), z.string().max(64)]), limit: z.int().min(1).max(MAX_BEHAVIOUR_DEVICES),
  }),
  /** Compares those that it knows of these and learns them no more, or learns them again; null for all devices. Replied to with `devices`: how many. */
  behaviour_freeze: z.object({ devices: Names.nullable(), is_frozen: z.boolean() }),
  /** Forgets those that it knows of these; null for all devices, their groups and the site. Replied to with `devices`: how many. */
  behaviour_reset: z.object({ devices: Names.nullable() }),
} as const;

const Figure = z.number().min(0);
/** Of the hours 0 to 23, UTC. */
const ofHours = <T extends z.ZodType>(value: T) => z.array(value).length(24);
const Hours = z.object({
  usual: ofHours(Figure).describe("What is usual at each hour, 0 to 23 (UTC)."),
  expected_high: ofHours(Figure).describe("The most that is expected at each hour."),
});
const Things = z.array(z.object({
  name: z.string().max(160).describe("The host, the port or the name."),
  share: z.number().min(0).max(1).describe("In which share of the hours in which the device did anything it was met, at least: 0 to 1. Late hours count more."),
})).max(32);
const Days = ofHours(z.int().min(0));

/** What is usual for a device. */
export const LearnedBehaviour = z.object({
  device: z.string().max(64).describe("The device's name at the probe: its MAC address, or its address behind a router."),
  lifecycle: z.enum(LIFECYCLES).describe("`learning`: too little is known, and nothing is reported. `active`: it is compared and learned. `drifted`: what was unusual for days is learned anew. `frozen`: it is compared and not learned."),
  lifecycle_since: Instant.describe("Since when it is in this state. As all times here by the time of packets."),
  known_since: Instant.describe("When it was first seen, or first seen after a reset."),
  hours_learned: z.int().min(0).describe("Hours that were learned. After 168 a device is compared; after 24 where its group is known."),
  unusual_since: Instant.nullable().describe("Since when something unusual goes on: nothing is learned meanwhile. Null for nothing."),
  relearned_until: Instant.nullable().describe("Until when a drifted device is learned anew. Null where it is not drifted."),
  group: z.string().max(64).describe("Like devices that it is compared with, by the ports that they use or offer most. Empty for none yet."),
  group_hours: z.int().min(0).describe("Hours that were learned of devices of the group."),
  is_group_known: z.boolean().describe("Whether that is enough to compare a new device after a day."),
  days: z.object({
    workdays: Days.describe("On how many working days each hour was learned."), weekends: Days.describe("On how many days of weekends each hour was learned."),
  }).describe("How well each hour is known. An hour of no day has nothing usual."),
  features: z.array(z.object({
    name: z.string().max(64).describe("What is measured, as `bytes_out`: bytes, a number, or a share of 0 to 1."),
    highest: Figure.describe("The most in an hour so far. It fades."),
    workdays: Hours.describe("On working days, Monday to Friday."), weekends: Hours.describe("On weekends."),
  })).max(32).describe("What is usual in an hour."),
  peers: Things.describe("Hosts that it usually opens conversations with, the most usual first."),
  ports: Things.describe("Ports that it usually uses or offers, as `uses tcp/443`."),
  names: Things.describe("Names that it usually asks for."),
});
export type LearnedBehaviour = z.infer<typeof LearnedBehaviour>;

/** Data of the reply to `behaviour_read`: null where the probe knows none of the names. */
export const BehaviourReply = z.object({ behaviour: LearnedBehaviour.nullable() });
/** A device that a probe knows, and in which state. */
export const LearnedDevice = LearnedBehaviour.pick({ device: true, lifecycle: true, lifecycle_since: true, known_since: true, hours_learned: true, group: true });
export type LearnedDevice = z.infer<typeof LearnedDevice>;

/** Data of the reply to `behaviour_list`. `total`: how many there are of these states. */
export const BehaviourListReply = z.object({ devices: z.array(LearnedDevice).max(MAX_BEHAVIOUR_DEVICES), total: z.int().min(0) });
export type BehaviourListReply = z.infer<typeof BehaviourListReply>;
/** Data of the reply to `behaviour_freeze` and `behaviour_reset`. */
export const BehaviourChangeReply = z.object({ devices: z.int().min(0) });
