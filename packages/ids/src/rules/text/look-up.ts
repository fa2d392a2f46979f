/** Tables that are asked with words of a file. */

/** @returns The row of that name, and never what every object inherits. */
export function lookUp<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
