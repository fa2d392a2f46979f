/**
 * Keeps the last answer of a reader that depends on its message alone: several guards read one packet, one after another.
 * @returns The reader; asked for the same message again it gives the same object.
 */
export function memoLast<M extends object, A, R>(read: (message: M, at: A) => R): (message: M, at: A) => R {
  let last: { readonly message: M; readonly result: R } | null = null;
  return (message, at) => {
    if (last?.message !== message) last = { message, result: read(message, at) };
    return last.result;
  };
}
