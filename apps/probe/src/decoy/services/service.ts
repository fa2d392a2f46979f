/** What a service has of a connection, and what it gives the session. */
import type { HoneypotStage } from "@lanthorn/contract/uplink";
import type { Socket } from "node:net";
import type { BaitDocument } from "../documents/bait-documents.ts";
import type { FileKeeper, KeptFile } from "../evidence/file-store.ts";
import type { Persona } from "../personas/persona.ts";

/** The decoy that a service plays a part of. */
export interface Stage {
  readonly hostname: string;
  readonly persona: Persona;
  /** Serves the peer's stream until it ends; null where the decoy has no SSH. */
  readonly ssh: ((peer: Peer, stage: Stage) => void) | null;
  readonly files: FileKeeper;
  /** What it shares with who was let in. */
  readonly documents: readonly BaitDocument[];
  /** When the decoys began; milliseconds since the epoch. */
  readonly startedMs: number;
  /** Octets of chance that stay the same for this decoy and this name, and are others at each site. At most 32. */
  derive(name: string, octets: number): Buffer;
}

/** The client of one connection. All that is done with it is bounded by the session. */
export interface Peer {
  readonly address: string;
  /** For a library that reads and writes by itself. */
  readonly stream: Socket;
  send(data: string | Uint8Array): void;
  /** What follows is within TLS, which the client begins. Only for services that have a certificate. */
  startTls(): void;
  /** Sends what there is, then closes. */
  end(data?: string | Uint8Array): void;
  /** @param username "" for none. @param detail In a few words. */
  reached(rung: HoneypotStage, username: string, detail: string): void;
  /**
   * Somebody gave a user name and a password, or a proof of it: a guess, or bait.
   * @param given The password, or whether what was given proves this one.
   * @param detail In a few words.
   * @returns Whether it is bait.
   */
  tried(username: string, given: string | ((password: string) => boolean), detail?: string): boolean;
  /** Somebody sent a file. */
  gave(file: KeptFile, name: string): void;
  /** Somebody read a document of ours. @param username "" for none. */
  took(document: BaitDocument, username: string): void;
  /** Which program it is, by how it begins, or by what it says of itself. */
  isProgram(kind: "hassh" | "ja4" | "software", value: string): void;
  /** What somebody did in a shell. @param transcript As asciicast; empty for nothing. */
  recorded(transcript: string): void;
  /** Calls `task` once, unless the connection ends before. */
  later(ms: number, task: () => void): void;
  /** Calls `task` once, when the connection has ended. */
  onEnd(task: () => void): void;
  random(octets: number): Buffer;
  now(): Date;
  /** Milliseconds that only rise. */
  monotonic(): number;
}

/** @returns What reads the client's bytes, in the order in which they come. What it throws ends its connection and nothing else. */
export type Service = (peer: Peer, stage: Stage) => (bytes: Buffer) => void;

/** Of one client: one that asks and does not read is ended. */
export const MAX_UNREAD_BYTES = 64 * 1024;

/** How long a wrong password takes, as PAM has it. */
export const REFUSAL_MS = 1500;

/** @returns The text with the decoy's name in it. */
export function withName(text: string, { hostname }: Pick<Stage, "hostname">): string {
  return text.replaceAll("%h", hostname);
}
