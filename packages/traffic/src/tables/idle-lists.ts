/** Lists of entries by the time of their last packet, as links between numbers: to move an entry to the front costs no memory. */
export class IdleLists {
  private readonly heads: Int32Array;
  private readonly tails: Int32Array;
  private previous = new Int32Array(1024);
  private next = new Int32Array(1024);
  private lists = new Int8Array(1024);

  /** @param count How many lists there are. */
  constructor(count: number) {
    this.heads = new Int32Array(count).fill(-1);
    this.tails = new Int32Array(count).fill(-1);
  }

  /** Which list an entry is in. */
  listOf(entry: number): number {
    return this.lists[entry] as number;
  }

  /** The entry of a list that was moved longest ago; -1 where it is empty. */
  last(list: number): number {
    return this.tails[list] as number;
  }

  /** Puts an entry that is in no list to the front of one. */
  add(entry: number, list: number): void {
    if (entry >= this.lists.length) this.grow(entry);
    const head = this.heads[list] as number;
    this.lists[entry] = list;
    this.previous[entry] = -1;
    this.next[entry] = head;
    this.heads[list] = entry;
    if (head < 0) this.tails[list] = entry;
    else this.previous[head] = entry;
  }

  /** Takes an entry out of its list. */
  remove(entry: number): void {
    const list = this.lists[entry] as number;
    const [previous, next] = [this.previous[entry] as number, this.next[entry] as number];
    if (previous < 0) this.heads[list] = next;
    else this.next[previous] = next;
    if (next < 0) this.tails[list] = previous;
    else this.previous[next] = previous;
  }

  /** Moves an entry to the front of a list, of its own or another. */
  touch(entry: number, list: number): void {
    if (this.heads[list] === entry) return;
    this.remove(entry);
    this.add(entry, list);
  }

  private grow(entry: number): void {
    const size = Math.max(this.lists.length * 2, entry + 1);
    const [previous, next, lists] = [new Int32Array(size), new Int32Array(size), new Int8Array(size)];
    previous.set(this.previous);
    next.set(this.next);
    lists.set(this.lists);
    [this.previous, this.next, this.lists] = [previous, next, lists];
  }
}
