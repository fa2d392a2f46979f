import { badRequest } from "../route.ts";

/**
 * A list's query with what its text in the filter language says beside its other parameters.
 * @throws ApiError BAD_REQUEST where both say the same: which of them counts, nobody could tell.
 */
export function withFilterText<Query extends object, Conditions extends object>(
  { filter, ...query }: Query & { readonly filter?: Conditions | undefined },
): Omit<Query, "filter"> & Partial<Conditions> {
  const said: Readonly<Record<string, unknown>> = query;
  const twice = Object.keys(filter ?? {}).find((name) => said[name] !== undefined);
  if (twice !== undefined) throw badRequest([{ path: ["filter"], message: `says what the parameter ${twice} says too: leave one of them out` }]);
  return { ...query, ...filter } as Omit<Query, "filter"> & Partial<Conditions>;
}
