// The thread in which files of registries are read: 400,000 records take seconds.
import { answerTasks } from "../../../sources/answer-tasks.ts";
import { type CountriesOrder, readCountries } from "./read-countries.ts";

answerTasks(({ order }: { readonly id: number; readonly order: CountriesOrder }) => readCountries(order));
