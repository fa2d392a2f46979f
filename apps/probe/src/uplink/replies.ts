import type { Reply } from "@lanthorn/contract/uplink";

/** Replies to commands, kept until they are sent. */
export interface Replies {
  /** Sends a reply, or keeps it until `send` where that fails. */
  add(reply: Reply): void;
  /** Sends what is kept. */
  send(): Promise<void>;
}

/** Replies that wait for a connection; a command's sender has given up on older ones. */
const MAX_REPLIES = 32;

/** @param publish Sends one reply. @returns Whether the broker has it. */
export function createReplies(publish: (reply: Reply) => Promise<boolean>): Replies {
  let waiting: readonly Reply[] = [];
  let isSending = false;
  let isWanted = false;

  /** In order, and one at a time: what fails stays the first. */
  async function sendAll(): Promise<void> {
    for (let [next] = waiting; next && (await publish(next)); [next] = waiting) {
      const sent = next;
      waiting = waiting.filter((reply) => reply !== sent);
    }
  }

  async function send(): Promise<void> {
    isWanted = true;
    if (isSending) return;
    isSending = true;
    while (isWanted) {
      isWanted = false;
      await sendAll();
    }
    isSending = false;
  }

  return {
    add(reply) {
      waiting = [...waiting, reply].slice(-MAX_REPLIES);
      void send();
    },
    send,
  };
}
