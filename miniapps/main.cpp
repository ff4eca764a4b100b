// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of each mini-app, whose main.cpp is compiled with its library: alone it would read all headers again.
int app_main(int argc, char** argv);

int main(int argc, char** argv) { return app_main(argc, argv); }
