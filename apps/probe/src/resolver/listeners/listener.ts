import type { Sender } from "../resolver.ts";

/** Where questions come from. */
export interface Listener {
  /** `udp 192.0.2.1:53`; with the port that it got where 0 was asked for. */
  readonly label: string;
  readonly port: number;
  /** Takes no more questions, and ends what is open. */
  close(): Promise<void>;
}

/** Port 0: the kernel chooses. */
export interface Place {
  readonly address: string;
  readonly port: number;
}

/** A place, or a socket that systemd has opened there. */
export type ListenAt = Place | { readonly fd: number };

/** Takes a message from whoever sent it. */
export type TakeMessage = (message: Uint8Array, sender: Sender) => void;
