/** The simulated site: its devices, its time, and what a change of it is. */
import type { ObservedFlow } from "@lanthorn/anomaly";

/** Seconds. */
export const HOUR = 3600;
/** Seconds. */
export const DAY = 24 * HOUR;
/** A Monday, 00:00 UTC. */
export const BEGIN = 1_767_571_200;
/** Six weeks. */
export const DAYS = 42;

/** A share from 0 to below 1. */
export type Draw = () => number;
/** What kind of device it is. */
export type Kind = "workstation" | "phone" | "camera" | "server" | "printer" | "sensor";

/** One device of the site. */
export interface Host {
  readonly name: string;
  readonly kind: Kind;
  /** When its person comes and goes, hours of the day. */
  readonly comes: number;
  readonly goes: number;
  /** How much more or less than others it does. */
  readonly pace: number;
  /** Its person administers servers. */
  readonly isAdmin: boolean;
}

/** What the changes may add to. */
export interface Scene {
  readonly random: Draw;
  readonly hosts: readonly Host[];
  readonly emit: (flow: Partial<ObservedFlow> & Pick<ObservedFlow, "at" | "originator" | "responder" | "port">) => void;
}

/** One change. */
export interface Change {
  readonly name: string;
  readonly isPlanted: boolean;
  /** The devices that it is about; empty for all. */
  readonly devices: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Adds what it does in the hour from `at` on. */
  readonly act: (scene: Scene, at: number) => void;
}
