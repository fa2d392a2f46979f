/** Where in a file which time lies. */
export interface FilePlaces {
  /** Notes a frame. @param position Of its block: octets from the file's beginning, rising. @param at Milliseconds since the epoch; need not rise. */
  add(position: number, at: number): void;
  /** @returns The stretches so far, for `partOf`. */
  encode(): Uint8Array;
}

/** Octets of a file in which all frames of a time lie, and others too. It begins and ends with a block. */
export interface FilePart {
  readonly from: number;
  /** The first octet behind it; null where it goes on to the file's end, however far that is. */
  readonly to: number | null;
}

/** Octets of a stretch. What an export reads in vain is two of them at most where frames are in order. */
const STRETCH_OCTETS = 1024 * 1024;
/** Of a file with more, stretches are joined: 96 KiB are enough for any file. */
const MAX_STRETCHES = 4096;
const FIRST_STRETCHES = 16;
/** Kept of a stretch: where it begins, and its earliest and latest frame's time. */
const NUMBERS = 3;

/** Of a file that has nothing yet. */
export function createFilePlaces(): FilePlaces {
  return new Places();
}

/** A class, whose methods are the same functions for each file: V8 compiles them into who calls them. */
class Places implements FilePlaces {
  private numbers = new Float64Array(FIRST_STRETCHES * NUMBERS);
  private count = 0;
  private octets = STRETCH_OCTETS;
  /** Where the last stretch's numbers begin. */
  private last = 0;

  add(position: number, at: number): void {
    const { numbers, last } = this;
    if (this.count === 0 || position - (numbers[last] as number) >= this.octets) this.begin(position, at);
    else if (at < (numbers[last + 1] as number)) numbers[last + 1] = at;
    else if (at > (numbers[last + 2] as number)) numbers[last + 2] = at;
  }

  encode(): Uint8Array {
    return new Uint8Array(this.numbers.slice(0, this.count * NUMBERS).buffer);
  }

  private begin(position: number, at: number): void {
    if (this.count === MAX_STRETCHES) {
      joinPairs(this.numbers);
      this.count /= 2;
      this.octets *= 2;
    }
    if (this.count * NUMBERS === this.numbers.length) {
      const larger = new Float64Array(this.numbers.length * 2);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    this.last = this.count * NUMBERS;
    this.count += 1;
    this.numbers.set([position, at, at], this.last);
  }
}

function joinPairs(numbers: Float64Array): void {
  for (let to = 0, from = 0; from < MAX_STRETCHES * NUMBERS; to += NUMBERS, from += 2 * NUMBERS) {
    numbers[to] = numbers[from] as number;
    numbers[to + 1] = Math.min(numbers[from + 1] as number, numbers[from + 1 + NUMBERS] as number);
    numbers[to + 2] = Math.max(numbers[from + 2] as number, numbers[from + 2 + NUMBERS] as number);
  }
}

/**
 * @param places As `encode` gave them.
 * @param times Milliseconds since the epoch; both are meant too.
 * @returns Null where no frame is of that time. The last stretch goes on to the file's end, which may be growing.
 */
export function partOf(places: Uint8Array, times: { readonly from: number; readonly to: number }): FilePart | null {
  const numbers = new Float64Array(places.length >>> 3);
  new Uint8Array(numbers.buffer).set(places.subarray(0, numbers.byteLength));
  let from = -1;
  let to: number | null = null;
  for (let at = 0; at + NUMBERS <= numbers.length; at += NUMBERS) {
    if ((numbers[at + 1] as number) > times.to || (numbers[at + 2] as number) < times.from) continue;
    if (from < 0) from = numbers[at] as number;
    to = numbers[at + NUMBERS] ?? null;
  }
  return from < 0 ? null : { from, to };
}
