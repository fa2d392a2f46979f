/** Whose occurrences are counted together, and whose bits are one. */

/** The two ends of a packet and its flow, as texts that stand for them. */
export interface Ends {
  readonly source: string;
  readonly destination: string;
  readonly flow: string;
}

/** @returns A text that is equal for what is counted together. Of `both`, source and destination are not interchangeable; of `pair` they are. */
export function trackKey(track: "source" | "destination" | "both" | "pair" | "rule" | "flow" | "transaction", { source, destination, flow }: Ends): string {
  switch (track) {
    case "source":
      return source;
    case "destination":
      return destination;
    case "both":
      return `${source} ${destination}`;
    case "pair":
      return source < destination ? `${source} ${destination}` : `${destination} ${source}`;
    case "flow":
    case "transaction":
      return flow;
    case "rule":
    default:
      return "";
  }
}
