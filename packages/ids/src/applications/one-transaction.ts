import { type ApplicationOutput, type ApplicationParser, type Direction, STAGE_DONE } from "./application.ts";
import { FieldTransaction } from "./field-transaction.ts";
import { WaitingBytes } from "./waiting-bytes.ts";

/** A TCP connection that is one transaction, whose sides end one by one. */
export interface OneTransaction {
  readonly transaction: FieldTransaction;
  /** Nothing more of this side is read; the transaction ends with the second. @returns What `take` gives back then. */
  close(direction: Direction): -1;
  isClosed(direction: Direction): boolean;
  /** @param take Reads from the front of what a side has said, as for `WaitingBytes`. */
  parser(take: (direction: Direction, bytes: Uint8Array) => number): ApplicationParser;
}

/**
 * @param maxBytes A message that is longer ends its side.
 * @param onClose Is called where a side ends, and may be called again.
 */
export function createOneTransaction(application: string, output: ApplicationOutput, maxBytes: number, onClose: (direction: Direction) => void = () => undefined): OneTransaction {
  const transaction = new FieldTransaction(application);
  const sides = { "to-server": new WaitingBytes(output, maxBytes), "to-client": new WaitingBytes(output, maxBytes) };
  let isOver = false;

  const isClosed = (direction: Direction) => transaction.stageOf(direction) === STAGE_DONE;

  function finish(): void {
    if (isOver) return;
    isOver = true;
    for (const direction of ["to-server", "to-client"] as const) {
      sides[direction].close();
      onClose(direction);
    }
    transaction.close(output);
  }

  function close(direction: Direction): -1 {
    if (isClosed(direction)) return -1;
    sides[direction].close();
    onClose(direction);
    transaction.setStage(direction, STAGE_DONE);
    output.onChange(transaction, direction);
    return -1;
  }

  return {
    transaction, close, isClosed,
    parser: (take) => ({
      bytes(direction, bytes) {
        if (isOver) return;
        sides[direction].read(bytes, (all) => take(direction, all));
        if (sides[direction].isOver) close(direction);
        if (isClosed("to-server") && isClosed("to-client")) finish();
      },
      gap(direction) {
        if (!isOver) close(direction);
      },
      end: finish,
    }),
  };
}
