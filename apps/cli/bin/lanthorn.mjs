#!/usr/bin/env node
// npm links a command only where its file is there when packages are installed, which is before anything is compiled.
import "../dist/main.js";
