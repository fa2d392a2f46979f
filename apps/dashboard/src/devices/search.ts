import { DevicesQuery } from "@lanthorn/contract";
import * as z from "zod";

/** What the address of the list holds: the API's parameters, and the names of the columns in their order. */
export const DevicesSearch = DevicesQuery.extend({ columns: z.string().max(1000).regex(/^[a-z0-9_]+(?:,[a-z0-9_]+)*$/).optional() });
