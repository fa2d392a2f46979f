/** A number as it is read, with what it counts, as `1 device` or `12,000 devices`. @param many Where it is not `one` with an s. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
