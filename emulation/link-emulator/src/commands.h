#ifndef COMMANDS_H
#define COMMANDS_H

enum { max_line = 256 };

/*
 * Does what a line says and answers with a line of JSON, {"error":"..."} where it cannot. Numbers of hosts count from 0.
 *
 *   host ADDRESS                        makes a host: {"host":0,"namespace":"/proc/PID/fd/N"}
 *   delay FROM TO MICROSECONDS          one way; without it nothing gets from one to the other
 *   jitter HOST|all MICROSECONDS        standard deviation, each way
 *   loss HOST|all RATE                  from 0 to 1, each way
 *   rate HOST|all BITS_PER_S QUEUE      each way, QUEUE in bytes; 0 bits a second: no limit
 *   seed NUMBER                         of loss and jitter
 *   stats                               see statistics.h
 *   reset                               begins the statistics anew
 */
void command_run(char *line);

#endif
