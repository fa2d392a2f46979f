// The thread in which lists are read and names are judged: a million names take seconds.
import { answerTasks } from "../../../sources/answer-tasks.ts";
import { createNameWork } from "./work.ts";

answerTasks(createNameWork());
