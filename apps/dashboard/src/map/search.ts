import { TopologyQuery } from "@lanthorn/contract";
import * as z from "zod";

/** What the address of the map holds: the API's parameters, what is chosen, how much around it, and how it is shown. */
export const MapSearch = TopologyQuery.extend({
  /** Id of a node of the topology: an address, an id or a name that a machine gives itself. */
  focus: z.string().max(700).optional(),
  hops: z.enum(["1", "2", "3"]).optional(),
  view: z.literal("table").optional(),
});
