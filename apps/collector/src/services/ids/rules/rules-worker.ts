// The thread in which rules are read, searched and made into bundles: fifty thousand of them take seconds.
import { answerTasks } from "../../../sources/answer-tasks.ts";
import { createRuleWork } from "./work.ts";

answerTasks(createRuleWork());
